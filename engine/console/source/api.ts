// Requests to the server of the page.
import { tab } from "./storage";

export class Problem extends Error {
  constructor(readonly status: number, message: string, readonly code = "", readonly offset?: number) {
    super(message);
  }
}

const tokenKey = "heddle-token";
export const token = () => tab.get(tokenKey) ?? "";
export function setToken(text: string) {
  tab.set(tokenKey, text);
}

const headers = (): Record<string, string> => (token() ? { Authorization: `Bearer ${token()}` } : {});

async function problemOf(reply: Response): Promise<Problem> {
  try {
    const p = await reply.json();
    return new Problem(reply.status, p.detail ?? reply.statusText, p.code, p.offset);
  } catch {
    return new Problem(reply.status, `${reply.status} ${reply.statusText}`);
  }
}

// call sends a request; with a body by POST. Path is absolute.
export async function call<T>(path: string, body?: object, signal?: AbortSignal): Promise<T> {
  let reply: Response;
  try {
    reply = await fetch(path, body
      ? { method: "POST", body: JSON.stringify(body), headers: { ...headers(), "Content-Type": "application/json" }, signal }
      : { headers: headers(), signal });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Problem(0, "the server does not answer");
  }
  if (!reply.ok) throw await problemOf(reply);
  return reply.json();
}

// events yields the messages of a stream of server-sent events.
export async function* events<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
  const reply = await fetch(path, { headers: headers(), signal });
  if (!reply.ok) throw await problemOf(reply);
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop()!;
    for (const part of parts) {
      if (part.startsWith("data: ")) yield JSON.parse(part.slice(6));
    }
  }
}

// quoted returns a text as one word of a POSIX shell.
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

// curl returns the command that sends the same request.
export function curl(path: string, body?: object): string {
  const parts = ["curl", "-sS", quoted(location.origin + path)];
  if (token()) parts.push("-H", '"Authorization: Bearer $TOKEN"');
  if (body) parts.push("-d", quoted(JSON.stringify(body)));
  return parts.join(" ");
}

export const indexPath = (name: string, verb = "") => `/v1/indexes/${encodeURIComponent(name)}${verb && "/" + verb}`;
export const tablePath = (name: string, verb = "") => `/v1/tables/${encodeURIComponent(name)}${verb && "/" + verb}`;
