/** The cursor of a page of runs: the place of the last run of the page before. */
import { asPosition, wrongCursor } from '../../platform/http/server/pages.js';
import type { RunSort } from '../contract/run.js';
import type { ListedRun, RunPlace } from '../store/runs.js';

export const placeText = ({ value, position, id }: ListedRun): string => JSON.stringify([value, position, id]);

/** Undefined for the first page. Refuses the cursor of another order. */
export function parsePlace(cursor: string | undefined, by: RunSort): RunPlace | undefined {
  if (cursor === undefined) return undefined;
  const [value, position, id] = listIn(Buffer.from(cursor, 'base64url').toString());
  const isOfOrder = value === null || typeof value === (by === 'name' ? 'string' : 'number');
  const place = typeof position === 'string' && typeof id === 'string' ? asPosition(`${position} ${id}`) : null;
  if (!place || !isOfOrder || (by === 'created' && value !== null)) throw wrongCursor();
  return { ...place, value: value as RunPlace['value'] };
}

function listIn(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
