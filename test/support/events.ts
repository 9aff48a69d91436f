import assert from 'node:assert/strict';
import type { JobEvent } from './api.js';
import { eventSchema, type EventType } from '../../src/contracts/events/schema.js';

/** Returns the event; throws unless it fits the schema of its type without extra fields. */
export function checkedEvent<Given extends { type: string; message: string; data: unknown }>(event: Given): Given {
  const { type, message, data } = event;
  const result = eventSchema.safeParse({ type, message, data });
  assert.ok(result.success, `${type} ${JSON.stringify(data)}: ${result.error?.message}`);
  // Compares text: the objects may come from another realm with other prototypes.
  assert.equal(sorted(result.data.data), sorted(data), `${type} has a field that its schema does not name`);
  return event;
}

/** JSON with sorted fields. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}

export function eventsOfType<Type extends EventType>(events: readonly JobEvent[], type: Type) {
  return events.filter((event): event is Extract<JobEvent, { type: Type }> => event.type === type);
}
