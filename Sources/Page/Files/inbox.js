// How many notifications nobody has read.

import { session } from "./session.js";
import { alerts } from "./trading.js";

// More are "99" at a glance, too.
const unreadMax = 99;

class Inbox extends EventTarget {
  constructor() {
    super();
    this.unread = 0;
  }

  async look() {
    let unread = 0;
    try {
      if (session.isSignedIn) {
        const { notifications } = await alerts.inbox({ unread: true, limit: unreadMax });
        unread = notifications.length;
      }
    } catch {
      // A gateway that is away, or a token without the scope: nothing to show.
      return;
    }
    if (unread === this.unread) return;
    this.unread = unread;
    this.dispatchEvent(new Event("change"));
  }
}

export const inbox = new Inbox();
