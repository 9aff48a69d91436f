import type { z } from 'zod';

/** The parts of a schema that hold other schemas. */
export interface SchemaParts {
  type: string;
  shape?: Record<string, z.ZodType>;
  options?: z.ZodType[];
  discriminator?: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
}

export function partsOf(schema: z.ZodType): SchemaParts {
  return schema.def as unknown as SchemaParts;
}
