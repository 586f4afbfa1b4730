// What a person has chosen. It is kept in the browser, and with the user's preferences where one
// has signed in, so that another device has it, too.

const storageKey = "candled.settings";
const choices = {
  refreshSeconds: [1, 2, 5],
  colours: ["red-up", "green-up"],
  theme: ["auto", "light", "dark"],
  language: ["en", "zh"],
  hidesAmounts: [false, true],
};

const firstLanguage = () => (/^zh\b/.test(navigator.language) ? "zh" : "en");

class Settings extends EventTarget {
  constructor() {
    super();
    this.values = {
      refreshSeconds: 1, colours: "red-up", theme: "auto", language: firstLanguage(),
      hidesAmounts: false,
    };
    try {
      this.accept(JSON.parse(localStorage.getItem(storageKey) ?? "{}"));
    } catch {
      // Unreadable or forbidden storage: the defaults serve.
    }
  }

  get(name) { return this.values[name]; }

  choices(name) { return choices[name]; }

  set(name, value) {
    this.accept({ [name]: value });
    this.publish();
    this.dispatchEvent(new Event("chosen"));
  }

  // Takes over what is known and valid of an object from outside.
  accept(values) {
    for (const [name, allowed] of Object.entries(choices)) {
      if (allowed.includes(values?.[name])) this.values[name] = values[name];
    }
  }

  // What another device has chosen.
  adopt(values) {
    this.accept(values);
    this.publish();
  }

  publish() {
    try {
      localStorage.setItem(storageKey, JSON.stringify(this.values));
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    this.show();
    this.dispatchEvent(new Event("change"));
  }

  // Style sheets look at the attributes of the root.
  show() {
    const root = document.documentElement;
    root.lang = this.values.language === "zh" ? "zh-Hans" : "en";
    root.dataset.theme = this.values.theme;
    root.dataset.colours = this.values.colours;
    root.dataset.hidesAmounts = String(this.values.hidesAmounts);
  }
}

export const settings = new Settings();
