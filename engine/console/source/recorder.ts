// The recorder keeps the events of the last 15 minutes. The server has those before the page was opened.
import { events, Problem } from "./api";
import type { Status } from "./types";

const minutes = 15;
const fine = 60_000; // events of the last minute stay as they are; of older ones, one a second

export const recorder = {
  interval: 1000,
  all: [] as Status[],
  error: undefined as Problem | undefined,
  paused: false,
  listeners: new Set<() => void>(),
  stop: undefined as AbortController | undefined,

  // start follows the events until the interval changes.
  start() {
    if (this.stop) return;
    const stop = new AbortController();
    this.stop = stop;
    (async () => {
      while (!stop.signal.aborted) {
        try {
          const gap = Math.min(60 * minutes, Math.ceil((Date.now() - (this.all.at(-1)?.time_ms ?? 0)) / 1000));
          for await (const s of events<Status>(`/v1/events?interval_ms=${this.interval}&past_s=${gap}`, stop.signal)) {
            this.error = undefined;
            this.add(s);
          }
          this.error = new Problem(0, "the stream of events has ended: trying again");
        } catch (e) {
          if (stop.signal.aborted) return;
          this.error = e instanceof Problem ? e : new Problem(0, "the server does not answer: trying again");
        }
        this.tell();
        await new Promise((done) => setTimeout(done, 2000));
      }
    })();
  },

  follow(interval: number) {
    this.interval = interval;
    this.stop?.abort();
    this.stop = undefined;
    this.start();
  },

  add(s: Status) {
    if (s.time_ms <= (this.all.at(-1)?.time_ms ?? 0)) return; // an event of the past that is known
    this.all.push(s);
    const old = this.all.findIndex((x) => x.time_ms >= s.time_ms - minutes * 60_000);
    this.all.splice(0, old);
    const i = this.all.findIndex((x) => x.time_ms >= s.time_ms - fine);
    if (i > 1 && Math.floor(this.all[i - 1].time_ms / 1000) === Math.floor(this.all[i - 2].time_ms / 1000)) this.all.splice(i - 1, 1);
    this.tell();
  },

  tell() {
    if (!this.paused) for (const f of this.listeners) f();
  },
};
