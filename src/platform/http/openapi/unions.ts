/** Names for the objects in unions, and rules where generators do not take them for unions. */
import { isObject } from '../../../util/json.js';
import { prefix, type Json, type SchemaDocument } from './schemas.js';

/**
 * Gives each object in a union a schema of its own, named after where it is: generators make a
 * class of it, and most of them cannot name it themselves.
 */
export function nameUnions(document: SchemaDocument): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Json>;
  for (const [name, schema] of Object.entries(schemas)) nameWithin(schema, name, schemas);
  for (const operation of operationsOf(document)) {
    const name = pascal(operation.operationId);
    const bodies = Object.values(operation.requestBody?.content ?? {});
    for (const { schema } of bodies) if (schema) nameWithin(schema, `${name}Body`, schemas);
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      const suffix = status.startsWith('2') ? 'Answer' : `Problem${status}`;
      for (const { schema } of Object.values(content)) if (schema) nameWithin(schema, `${name}${suffix}`, schemas);
    }
  }
}

interface Operation {
  operationId: string;
  requestBody?: { content?: Record<string, { schema?: Json }> };
  responses: Record<string, { content?: Record<string, { schema?: Json }> }>;
}

function operationsOf({ paths = {} }: SchemaDocument): Operation[] {
  return Object.values(paths).flatMap((path) => Object.values(path as Record<string, Operation>));
}

function nameWithin(schema: Json, name: string, schemas: Record<string, Json>): void {
  if (isObjectType(schema)) wrapRules(schema);
  nameBranches(schema, name, schemas);
  for (const union of ['anyOf', 'oneOf']) {
    if (!schema[union]) continue;
    const members = membersOf(schema, union);
    const objects = members.filter(isObjectType);
    schema[union] = members.map((member) => {
      const own = objects.length > 1 ? name + distinction(member, objects) : name;
      nameWithin(member, own, schemas);
      return isObjectType(member) ? moveTo(schemas, own, member) : member;
    });
  }
  for (const [property, part] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>))
    nameWithin(part, name + pascal(property), schemas);
  if (isObject(schema['items'])) nameWithin(schema['items'], `${name}Item`, schemas);
  if (isObject(schema['additionalProperties'])) nameWithin(schema['additionalProperties'], `${name}Value`, schemas);
}

/** Moves rules across fields into `allOf`: generators take them for a union of types otherwise. */
function wrapRules(schema: Json): void {
  for (const rule of ['anyOf', 'oneOf']) {
    if (!schema[rule]) continue;
    schema['allOf'] = [...((schema['allOf'] as Json[] | undefined) ?? []), { [rule]: schema[rule] }];
    delete schema[rule];
  }
}

/**
 * Names the branches of rules where a schema has several: generators that number the branches of
 * each give two of them one name.
 */
function nameBranches({ allOf = [] }: { allOf?: Json[] }, name: string, schemas: Record<string, Json>): void {
  const unions = allOf.flatMap((rule) =>
    ['anyOf', 'oneOf'].filter((union) => rule[union]).map((union) => ({ rule, union })),
  );
  if (unions.length < 2) return;
  let count = 0;
  for (const { rule, union } of unions)
    rule[union] = (rule[union] as Json[]).map((branch) => moveTo(schemas, `${name}Rule${(count += 1)}`, branch));
}

/** The members of a union, and of the unions among them. */
function membersOf(schema: Json, union: string): Json[] {
  return (schema[union] as Json[]).flatMap((member) =>
    member[union] && Object.keys(member).length === 1 ? membersOf(member, union) : [member],
  );
}

const isObjectType = ({ type }: Json): boolean => type === 'object';

/** What tells an object of a union from the others: a constant, or a field of its own. */
function distinction(member: Json, objects: Json[]): string {
  const others = objects.filter((other) => other !== member);
  const own = Object.entries(fieldsOf(member)).find(([name, { const: value }]) =>
    others.every((other) =>
      value !== undefined ? fieldsOf(other)[name]?.['const'] !== value : !(name in fieldsOf(other)),
    ),
  );
  return pascal(String(own?.[1]['const'] ?? own?.[0] ?? objects.indexOf(member) + 1));
}

const fieldsOf = ({ properties = {} }: Json) => properties as Record<string, Json>;

function moveTo(schemas: Record<string, Json>, name: string, { title: _, ...schema }: Json): Json {
  const known = schemas[name];
  if (known && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`Two schemas would have the name ${name}.`);
  schemas[name] = schema;
  return { $ref: prefix + name };
}

/** Converts `eval.policy.seed_done` to `EvalPolicySeedDone`. */
function pascal(text: string): string {
  const words = text.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}
