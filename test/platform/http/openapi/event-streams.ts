/** Server-sent events as fields, with `data` as JSON if it is that. */
import { isObject } from '../../../../src/util/json.js';

export type StreamEvent = Record<string, unknown>;
const done = '[DONE]';

/** The first events of a stream, and the end of a chat completion. */
export function parseStream(text: string, most = Infinity): StreamEvent[] {
  const events = text
    .split('\n\n')
    .filter((block) => /^data: /m.test(block))
    .map(parseEvent);
  return events.filter(({ data }, index) => index < most || data === done);
}

function parseEvent(block: string): StreamEvent {
  const fields = block.split('\n').filter((line) => !line.startsWith(':'));
  return Object.fromEntries(
    fields.map((line) => {
      const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? [];
      const isJson = name === 'retry' || (name === 'data' && value !== done);
      return [name, isJson ? (JSON.parse(value) as unknown) : value];
    }),
  );
}

export function writeStream(events: readonly unknown[]): string {
  const write = (value: unknown) => (isObject(value) ? JSON.stringify(value) : String(value));
  const block = (event: unknown) =>
    Object.entries(event as StreamEvent).map(([name, value]) => `${name}: ${write(value)}\n`);
  return events.map((event) => `${block(event).join('')}\n`).join('');
}
