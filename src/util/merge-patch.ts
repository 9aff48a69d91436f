import { canonicalJson, isObject } from './json.js';

/** JSON merge patch (RFC 7396): objects are merged, null removes a field, all else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/**
 * The merge patch that makes `after` of `before`. Lists are replaced as a whole. A null of `after`
 * cannot be said by a patch: it removes the field.
 */
export function patchBetween(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const changed = Object.entries(after).flatMap(([name, value]): [string, unknown][] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (canonicalJson(old ?? null) === canonicalJson(value) && old !== undefined) return [];
    return [[name, isObject(old) && isObject(value) ? patchBetween(old, value) : value]];
  });
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...changed]);
}
