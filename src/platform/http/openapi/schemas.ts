/** One schema for each resource: the generator writes one for requests and one for answers. */

export type Json = Record<string, unknown>;

export interface SchemaDocument {
  paths?: object;
  components?: { schemas?: Record<string, object> };
}

export const prefix = '#/components/schemas/';
const ofRequests = 'Input';

/**
 * Removes schemas that nothing refers to, and names those of requests after their resources. Throws
 * if a resource has another form in requests than in answers: each needs an id of its own.
 */
export function joinTwins(document: SchemaDocument): void {
  const { schemas } = document.components ?? {};
  if (!schemas) return;
  const used = reachable(document.paths ?? {}, schemas);
  const joined: Record<string, object> = {};
  for (const name of Object.keys(schemas).sort()) {
    if (!used.has(name)) continue;
    rename(schemas[name]);
    const resource = resourceOf(name);
    const twin = joined[resource];
    if (twin && JSON.stringify(twin) !== JSON.stringify(schemas[name]))
      throw new Error(`The schema ${resource} has another form in requests than in answers.`);
    joined[resource] = schemas[name]!;
  }
  rename(document.paths);
  document.components!.schemas = joined;
}

/** The names of the schemas that something refers to, directly or through others. */
function reachable(from: object, schemas: Record<string, object>): Set<string> {
  const names = new Set<string>();
  const open: object[] = [from];
  for (let next = open.pop(); next; next = open.pop()) {
    visit(next, ({ $ref }) => {
      const name = nameOf($ref);
      if (name === null || names.has(name) || !schemas[name]) return;
      names.add(name);
      open.push(schemas[name]);
    });
  }
  return names;
}

/** Lets references name resources. */
function rename(value: unknown): void {
  visit(value, (part) => {
    const name = nameOf(part['$ref']);
    if (name !== null) part['$ref'] = prefix + resourceOf(name);
  });
}

function nameOf(ref: unknown): string | null {
  return typeof ref === 'string' && ref.startsWith(prefix) ? ref.slice(prefix.length) : null;
}

const resourceOf = (name: string) => (name.endsWith(ofRequests) ? name.slice(0, -ofRequests.length) : name);

/** Removes the bounds of safe integers: they say nothing of the field. */
export function dropSafeBounds(value: unknown): void {
  visit(value, (part) => {
    if (part['minimum'] === Number.MIN_SAFE_INTEGER) delete part['minimum'];
    if (part['maximum'] === Number.MAX_SAFE_INTEGER) delete part['maximum'];
  });
}

/** Writes a value of several types as a union, which generators for typed languages can name. */
export function splitTypes(value: unknown): void {
  visit(value, (part) => {
    const { type } = part;
    if (!Array.isArray(type) || type.filter((each) => each !== 'null').length < 2) return;
    delete part['type'];
    part['anyOf'] = type.map((each: unknown) => ({ type: each }));
  });
}

/** Sees a value's objects, at any depth. */
export function visit(value: unknown, see: (part: Json) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) see(value as Json);
  for (const part of Object.values(value)) visit(part, see);
}
