/** Discriminators: the field whose constant tells the objects of a union apart. */
import { prefix, visit, type Json, type SchemaDocument } from './schemas.js';

/** Names the field of each union of schemas that has one, with the schema of each value. */
export function nameDiscriminators(document: SchemaDocument): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Json>;
  visit(document, (part) => {
    const members = (part['anyOf'] ?? part['oneOf']) as { $ref?: string }[] | undefined;
    if (!Array.isArray(members) || members.length < 2) return;
    const references = members.flatMap(({ $ref }) => ($ref?.startsWith(prefix) ? [$ref] : []));
    if (references.length < members.length) return;
    const objects = references.map((reference) => fieldsOf(schemas[reference.slice(prefix.length)]!));
    for (const propertyName of Object.keys(objects[0]!)) {
      const values = objects.map((fields) => fields[propertyName]?.['const']);
      if (new Set(values).size < members.length || values.some((value) => typeof value !== 'string')) continue;
      const mapping = Object.fromEntries(values.map((value, index) => [value, references[index]]));
      part['discriminator'] = { propertyName, mapping };
      return;
    }
  });
}

const fieldsOf = ({ properties = {} }: Json) => properties as Record<string, Json>;
