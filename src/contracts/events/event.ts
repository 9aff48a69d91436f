import { z } from 'zod';

/** An event type; `fields` are in `data` and on the wire also beside it. */
export function event<const Type extends string, Fields extends z.ZodRawShape>(
  type: Type,
  meaning: string,
  fields: Fields,
) {
  return eventOf(type, meaning, z.object(fields));
}

export function eventOf<const Type extends string, Data extends z.ZodType>(type: Type, meaning: string, data: Data) {
  return z
    .object({ type: z.literal(type), message: z.string().describe('The event as a log line.'), data })
    .meta({ title: type, description: meaning });
}
