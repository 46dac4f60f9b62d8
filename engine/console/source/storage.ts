// Texts that the browser keeps. One that refuses, such as one without cookies, keeps them as long as the page.
const page = new Map<string, string>();

const storage = (kind: "localStorage" | "sessionStorage") => ({
  get(key: string): string | null {
    try {
      return window[kind].getItem(key);
    } catch {
      return page.get(key) ?? null;
    }
  },
  set(key: string, text: string) {
    try {
      window[kind].setItem(key, text);
    } catch {
      page.set(key, text);
    }
  },
});

export const visits = storage("localStorage"); // for all visits
export const tab = storage("sessionStorage"); // until the tab is closed
