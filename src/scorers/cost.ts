/** What compiling a weighted scorer costs, read off the request before any part is compiled. */
import { asObject, isObject } from '../util/json.js';
import { maxSchemaSize, schemaSize } from '../util/json-schema.js';
import { patternWork } from '../util/pattern-cost.js';

/** Maximum instructions of all patterns of a scorer, which compile in 0.1 s. */
const maxPatternWork = 10_000;

/** Why the parts of a scorer together are too costly, as a predicate, or null. */
export function costProblem(scorer: unknown): string | null {
  const parts: unknown = asObject(scorer)?.['parts'];
  if (!Array.isArray(parts)) return null;
  let [size, work] = [0, 0];
  for (const part of parts as unknown[]) {
    const { schema, pattern, flags } = asObject(asObject(part)?.['scorer']) ?? {};
    // Before the next is read: what is wrong with one alone is told by its own error.
    if (isObject(schema)) {
      if (size >= maxSchemaSize) return `have schemas of more than ${maxSchemaSize} values in all`;
      size += schemaSize(schema);
    }
    if (typeof pattern === 'string') {
      if (work >= maxPatternWork)
        return 'have patterns that take too long to compile in all; use fewer or shorter ones';
      work += patternWork(pattern, String(flags));
    }
  }
  return null;
}
