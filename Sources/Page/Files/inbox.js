// How many notifications nobody has read.

import { session } from "./session.js";
import { alerts } from "./trading.js";

class Inbox extends EventTarget {
  constructor() {
    super();
    this.unread = 0;
  }

  async look() {
    let unread = 0;
    try {
      if (session.isSignedIn) {
        ({ unread } = await alerts.inbox({ unread: true, limit: 1 }));
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
