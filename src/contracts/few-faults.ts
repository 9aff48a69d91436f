/** Lists of requests name their first faults, at most `most`: an issue costs more than its item. */
import { z } from 'zod';
import { partsOf } from './schema-parts.js';

const { prefixIssues } = z.core.util;

const done = new WeakSet<z.ZodType>();

/** Makes the lists of a schema skip the items after the one with the last fault that is named. */
export function nameFewFaults(schema: z.ZodType, most: number): void {
  if (done.has(schema)) return;
  done.add(schema);
  const { shape, options, innerType, in: input, out, element, valueType } = partsOf(schema);
  if (element) stopEarly(schema, element, most);
  const inner = [...Object.values(shape ?? {}), ...(options ?? []), innerType, input, out, element, valueType];
  for (const one of inner) if (one) nameFewFaults(one, most);
}

/** The list is refused by the faults before, so what follows them changes nothing. */
function stopEarly({ _zod: list }: z.ZodType, element: z.ZodType, most: number): void {
  const { parse } = list;
  const parseFew: typeof parse = (payload, context) => {
    const items: unknown = payload.value;
    if (!Array.isArray(items)) return parse(payload, context);
    const read: unknown[] = [];
    for (const [at, item] of items.entries()) {
      const result = element._zod.run({ value: item as unknown, issues: [] }, context);
      if (result instanceof Promise) return parse(payload, context);
      payload.issues.push(...prefixIssues(at, result.issues));
      // Checks of the whole list would meet items that were not validated.
      if (payload.issues.length >= most) return Object.assign(payload, { aborted: true });
      read.push(result.value);
    }
    payload.value = read;
    return payload;
  };
  if (list.run === parse) list.run = parseFew;
  list.parse = parseFew;
}
