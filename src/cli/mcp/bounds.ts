import { ConfigError } from '../../service/config.js';
import { typeOf } from '../../scorers/scorer.js';
import { scorers } from '../../scorers/table.js';
import { asObject } from '../../util/json.js';

/**
 * Refuses an argument of a tool that says where rows and prompts go, or what runs: a text of a
 * stranger may have steered the call. Files that the user keeps may say it.
 */
export function refuseTargets(value: unknown, field: string): void {
  for (const open: unknown[] = [value]; open.length > 0;) {
    const next = open.pop();
    if (Array.isArray(next)) open.push(...(next as unknown[]));
    const object = asObject(next);
    if (!object) continue;
    const { type } = object;
    const named = targets.find((name) => Object.hasOwn(object, name));
    if (named !== undefined || targetTypes.has(type)) {
      const what = named === undefined ? `a scorer of type ${String(type)}` : `the field ${named}`;
      throw new ConfigError(
        `${field} has ${what}: a call of a tool names no address and no code; ask the user to put it into ratchet.json, or to run the command`,
      );
    }
    open.push(...Object.values(object));
  }
}

const targets = ['container_url', 'webhook_url', 'url', 'code'];

/** The types of scorers with such a field. */
const targetTypes: ReadonlySet<unknown> = new Set(
  scorers.filter(({ schema }) => targets.some((field) => field in schema.shape)).map(typeOf),
);
