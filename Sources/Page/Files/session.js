// Who uses the page. The address of the first visit carries a token behind its #, which browsers
// never send; it is taken out of the address at once and kept as long as the tab lives.

const storageKey = "candled.token";

class Session extends EventTarget {
  constructor() {
    super();
    this.token = null;
    this.wasRefused = false;
    // A token of the address that would take the place of another: to be asked about.
    this.offered = null;
    try {
      this.token = sessionStorage.getItem(storageKey);
    } catch {
      // Without storage a token lasts as long as the page.
    }
  }

  get isSignedIn() { return this.token !== null; }

  // Returns whether the address had a token.
  takeFromAddress() {
    const match = /^#token=(cndl_[\w.~-]+)$/.exec(location.hash);
    if (!match) return false;
    history.replaceState(null, "", `${location.pathname}#/`);
    if (this.isSignedIn && this.token !== match[1]) [, this.offered] = match;
    else this.signIn(match[1]);
    return true;
  }

  // The gateway does not know the token any more.
  refuse() {
    this.wasRefused = true;
    this.signOut();
  }

  signIn(token) {
    this.wasRefused = false;
    this.token = token;
    try {
      sessionStorage.setItem(storageKey, token);
    } catch {
      // Without storage a token lasts as long as the page.
    }
    this.dispatchEvent(new Event("change"));
  }

  signOut() {
    this.token = null;
    try {
      sessionStorage.removeItem(storageKey);
    } catch {
      // Without storage a token lasts as long as the page.
    }
    this.dispatchEvent(new Event("change"));
  }
}

export const session = new Session();
