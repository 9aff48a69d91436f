/** In a request, null for an optional field is the same as no field. */
import type { z } from 'zod';
import { isObject } from '../util/json.js';
import { partsOf, type SchemaParts } from './schema-parts.js';

/**
 * A request without the nulls of optional fields, unless a field's schema names null as a value.
 * Values of maps and of fields of any type stay.
 */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  const { shape, options, discriminator, innerType, in: input, element, valueType } = partsOf(schema);
  const wrapped = innerType ?? input;
  if (wrapped) return withoutNulls(wrapped, value);
  if (options) return chosen(options, discriminator, value).reduce((rest, form) => withoutNulls(form, rest), value);
  if (Array.isArray(value)) return element ? mapped(value, (item) => withoutNulls(element, item)) : value;
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name, item]) => item !== null || !isDropped(ownField(shape, name)));
  const cleaned = mapped(kept, (entry) => {
    const field = ownField(shape, entry[0]) ?? valueType;
    const item = field ? withoutNulls(field, entry[1]) : entry[1];
    return item === entry[1] ? entry : ([entry[0], item] as [string, unknown]);
  });
  return cleaned === kept && kept.length === Object.keys(value).length ? value : Object.fromEntries(cleaned);
}

const ownField = (shape: SchemaParts['shape'], name: string): z.ZodType | undefined =>
  shape && Object.hasOwn(shape, name) ? shape[name] : undefined;

function chosen(options: z.ZodType[], discriminator: string | undefined, value: unknown): z.ZodType[] {
  if (discriminator === undefined || !isObject(value)) return options;
  return options.filter((option) => partsOf(option).shape?.[discriminator]?.safeParse(value[discriminator]).success);
}

function isDropped(field: z.ZodType | undefined): boolean {
  if (!field) return false;
  const { type, innerType } = partsOf(field);
  const isOptional = type === 'optional' || type === 'default' || type === 'prefault';
  return isOptional && innerType !== undefined && !namesNull(innerType);
}

function namesNull(schema: z.ZodType): boolean {
  const { type, innerType, in: input, options } = partsOf(schema);
  if (type === 'nullable' || type === 'null') return true;
  if (options) return options.some(namesNull);
  const wrapped = innerType ?? input;
  return wrapped ? namesNull(wrapped) : false;
}

/** The mapped list, or the same list if no item changes: data sets are large. */
function mapped<T>(items: T[], map: (item: T) => T): T[] {
  const result = items.map(map);
  return result.some((item, index) => item !== items[index]) ? result : items;
}
