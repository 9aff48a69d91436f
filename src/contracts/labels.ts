/** What users write on their jobs: a name, tags, metadata, notes, and whether it is archived. */
import { z } from 'zod';
import { lineSchema } from './rules.js';
import { describedAs, unlessMissing } from './validation.js';

const maxName = 200;
export const maxTags = 20;
const maxMetadataBytes = 4_096;
const maxNotes = 4_000;

const nameSchema = lineSchema(maxName);

// All tags of a job fit into one search attribute of Temporal (2 KiB).
export const tagSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9 ._:/=@+-]{0,49}$/,
    'must be 1 to 50 letters (A-Z), digits, spaces or . _ : / = @ + -, and begin with a letter or a digit',
  );

const value = z.union([z.string(), z.number(), z.boolean()], unlessMissing('must be a string, a number or a boolean'));

export const metadataSchema = z
  .record(z.string(), value, unlessMissing('must be an object of strings, numbers and booleans'))
  .refine(
    (metadata) => Buffer.byteLength(JSON.stringify(metadata)) <= maxMetadataBytes,
    `must be at most ${maxMetadataBytes} bytes of JSON`,
  )
  .meta({ id: 'Metadata' });

const name = nameSchema.nullish().describe('Yours, for lists and the Temporal UI. Need not be unique.');
const tags = z.array(tagSchema).max(maxTags).nullish().describe('Yours, for lists and the Temporal UI.');
const notes = z.string().max(maxNotes).nullish().describe(`Yours; text of at most ${maxNotes} characters.`);
const metadata = metadataSchema.nullish().describe(`Yours; at most ${maxMetadataBytes} bytes of JSON.`);

/** Labels in a request of this service's own form; null is the same as absent. */
export const labelFields = { name, tags, metadata, notes };

/** Labels in a request that the existing client sends, too: its metadata is never refused. */
export const envelopeLabelFields = {
  name,
  tags,
  notes,
  metadata: z
    .unknown()
    .optional()
    .describe(
      `Yours: a flat object of strings, numbers and booleans, at most ${maxMetadataBytes} bytes of JSON. Anything else is not kept, with a warning.`,
    ),
};

/** Labels in the views of a job. */
export const labelViewFields = {
  name: z.string().nullable(),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), value),
  notes: z.string().nullable(),
  archived: z.boolean().describe('Whether lists leave it out.'),
};

export const tagQuery = z
  .union([tagSchema, z.array(tagSchema).max(maxTags)])
  .optional()
  .describe('Only jobs with this tag; repeated: with all of them.');

export const metadataQuery = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON, as in {"team":"search"}' });
      return z.NEVER;
    }
  })
  .pipe(metadataSchema)
  .meta({ contentMediaType: 'application/json', contentSchema: describedAs(metadataSchema) })
  .optional()
  .describe('Only jobs whose metadata has all of these values: an object as JSON, as in {"team":"search"}.');

export const archivedQuery = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true')
  .describe('true: archived jobs, too.');

export const nameQuery = nameSchema.optional().describe('Only jobs whose name contains this text, in any case.');

/** The stored labels of a job. */
export interface Labels {
  name: string | null;
  tags: string[];
  metadata: z.infer<typeof metadataSchema>;
  notes: string | null;
}

/** Labels, and whether lists leave the job out. */
export interface Marks extends Labels {
  archived: boolean;
}
