/** Null for an optional field of a request is no field (`withoutNulls`), also in the document. */
import { isObject } from '../../../util/json.js';

type Schema = Record<string, unknown>;
type Fields = Record<string, Schema>;

const nothing = { type: 'null' };
const something = { not: nothing };

/**
 * The schema of a request with null for optional fields. Rules take it as no field, unless null is
 * a value in `base`, which describes what they are about.
 */
export function acceptNulls(schema: unknown, base: unknown = schema): unknown {
  if (!isObject(schema)) return schema;
  const { type, properties, required = [] } = schema as { type?: string; properties?: Fields; required?: string[] };
  const isRule = type === undefined;
  const described = isRule ? base : schema;
  const fieldsThere = isObject(described) && isObject(described['properties']) ? described['properties'] : {};
  const isValue = (name: string) => isObject(fieldsThere[name]) && takesNull(fieldsThere[name]);

  const walked: Schema = { ...schema };
  for (const name of ['items', 'additionalProperties']) if (name in walked) walked[name] = acceptNulls(walked[name]);
  if (walked['not']) walked['not'] = acceptNulls(walked['not'], described);
  for (const name of ['anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(walked[name])) walked[name] = walked[name].map((form) => acceptNulls(form, described));

  const fields = Object.entries(properties ?? {}).map(([name, field]): [string, unknown] => {
    const inner = acceptNulls(field, fieldsThere[name]) as Schema;
    if (isRule && isValue(name)) return [name, inner];
    if (!required.includes(name)) return [name, orNull(inner)];
    return [name, isRule ? { allOf: [inner, something] } : inner];
  });
  const others = required.filter((name) => !Object.hasOwn(properties ?? {}, name) && !isValue(name));
  fields.push(...others.map((name): [string, unknown] => [name, something]));
  if (fields.length > 0) walked['properties'] = Object.fromEntries(fields);
  return walked;
}

function orNull(field: Schema): Schema {
  if (takesNull(field)) return field;
  const { description, default: otherwise, ...inner } = field;
  const { anyOf, ...others } = inner;
  const forms = Array.isArray(anyOf) && Object.keys(others).length === 0 ? (anyOf as unknown[]) : [inner];
  return {
    ...(description !== undefined && { description }),
    ...(otherwise !== undefined && { default: otherwise }),
    anyOf: [...forms, nothing],
  };
}

/** Whether null is a value already: it is named, or any value is. */
function takesNull({ $ref, type, enum: values, const: value, anyOf, ...rules }: Schema): boolean {
  if (type !== undefined) return [type].flat().includes('null');
  if (Array.isArray(values)) return values.includes(null);
  if (Array.isArray(anyOf)) return anyOf.some((form) => isObject(form) && takesNull(form));
  return $ref === undefined && value === undefined && rules['not'] === undefined && rules['oneOf'] === undefined;
}
