// Reads the event stream of a job by eventsource, which opens it again until it hears 204.
import { json } from 'node:stream/consumers';
import { EventSource } from 'eventsource';

const { url, key, types } = await json(process.stdin);
const events = [];
let ended = null;
const source = new EventSource(url, {
  async fetch(address, init) {
    const response = await fetch(address, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
    ended = response.status;
    return response;
  },
});
const note = ({ lastEventId, type, data }) => events.push([lastEventId, type, JSON.parse(data).type]);
// A lost connection is an `error` too, without data.
for (const type of types) source.addEventListener(type, (event) => event.data !== undefined && note(event));
// Newer versions do not keep the process while they wait for the next try.
const awake = setInterval(() => {}, 1_000);
await new Promise((resolve) => {
  source.addEventListener('error', () => {
    if (source.readyState === EventSource.CLOSED) resolve();
  });
});
clearInterval(awake);
console.log(JSON.stringify({ events, ended }));
