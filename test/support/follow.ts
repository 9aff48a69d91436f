import { all, Ratchet, type Event } from '../../src/client/index.js';

const anyId = /[a-z]{3}_[0-9a-f]{32}/;

/** Follows a job's stream to its terminal event; after a disconnect, resumes at the next API. */
export function follow(apis: () => string[], first: number, path: string, apiKey: string): Promise<Event[]> {
  let turn = first;
  const next = (url: string, init: RequestInit) => {
    const urls = apis();
    turn += 1;
    return fetch(urls[(turn - 1) % urls.length]! + new URL(url).pathname, init);
  };
  const client = new Ratchet({ url: apis()[0], apiKey, fetch: next, maxRetries: 100 });
  return all(client.handle(anyId.exec(path)![0]).events());
}
