// Texts for people.

const plain = new Intl.NumberFormat("en");

// count writes a whole number with separators.
export const count = (n: number) => plain.format(n);

// several writes a number of things.
export const several = (n: number, thing: string) => `${count(n)} ${thing}${n === 1 ? "" : "s"}`;

// short writes a number with three digits and a unit: 12.3 k.
export function short(n: number): string {
  for (const [size, unit] of [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]] as const) {
    if (Math.abs(n) >= size) return digits(n / size) + unit;
  }
  return Number.isInteger(n) ? String(n) : digits(n);
}

export function digits(n: number): string {
  const size = Math.abs(n);
  return size >= 100 || n === 0 ? n.toFixed(0) : size >= 10 ? n.toFixed(1) : size >= 1 ? n.toFixed(2) : Number(n.toPrecision(2)).toString();
}

export function bytes(n: number): string {
  for (const [size, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const) {
    if (n >= size) return `${digits(n / size)} ${unit}`;
  }
  return `${n} B`;
}

// time writes milliseconds in the unit that fits.
export function time(ms: number): string {
  if (ms >= 1000) return `${digits(ms / 1000)} s`;
  if (ms >= 1 || ms === 0) return `${digits(ms)} ms`;
  return ms >= 0.001 ? `${digits(ms * 1000)} µs` : `${digits(ms * 1e6)} ns`;
}

// percent writes a part of a whole. A part that is not 0 is not written as 0.
export function percent(part: number, of = 1): string {
  if (of <= 0) return "–";
  const n = (100 * part) / of;
  return n > 0 && n < 0.01 ? "< 0.01 %" : `${digits(n)} %`;
}

// both joins two predicates by AND.
export function both(a: string, b: string): string {
  if (!a.trim()) return b;
  return `${/\bOR\b/i.test(a) ? `(${a.trim()})` : a.trim()} AND ${/\bOR\b/i.test(b) ? `(${b})` : b}`;
}

// visible replaces characters that are invisible, or that change the direction of the text, by their
// numbers: a name cannot hide or forge a part of the page.
export const visible = (text: string) =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

// characters returns the number of characters in the first n bytes of a text.
export function characters(text: string, n: number): number {
  return [...new TextDecoder().decode(new TextEncoder().encode(text).slice(0, n))].length;
}
