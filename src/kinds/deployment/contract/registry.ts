/** The registry of a name: versions, labels, their changes, and the prompt for an application. */
import { z } from 'zod';
import { keyView, messageSchema, pageQuery, pageSchema, timestamp } from '../../../contracts/common.js';
import { needsOne, withRule } from '../../../contracts/field-rules.js';
import { unlessMissing, wholeParameter } from '../../../contracts/validation.js';

const longestLabel = 40;
/** Snake or kebab case. */
const labelPattern = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;

export const labelSchema = z
  .string(unlessMissing('must be a string'))
  .max(longestLabel, `must be at most ${longestLabel} characters`)
  .regex(labelPattern, 'must be lower-case letters and digits, with - or _ between, and begin with a letter');

export const reasonField = z
  .string('must be a string')
  .max(2_000, 'must be at most 2,000 characters')
  .nullish()
  .describe('Why, for the list of changes.');

const version = z.int('must be a whole number').min(1, 'must be at least 1').max(2_147_483_647);

export const setLabelSchema = withRule(
  z.strictObject(
    {
      version: version.optional().describe('The version of the name.'),
      deployment_id: z.string().min(1).max(100).optional().describe('The same by its id.'),
      reason: reasonField,
    },
    unlessMissing('must be a JSON object with version or deployment_id'),
  ),
  needsOne(['version', 'deployment_id'], 'must have exactly one of version and deployment_id'),
);

/** Body of a rollback; optional. */
export const rollBackBodySchema = z
  .strictObject({ reason: reasonField }, 'must be a JSON object, or absent')
  .meta({ id: 'Rollback' })
  .nullish();

const labelFields = { label: z.string(), version: z.int(), deployment_id: z.string() };

export const labelsSchema = z.object({
  name: z.string(),
  labels: z
    .array(z.object({ ...labelFields, snapshot_id: z.string() }).meta({ id: 'DeploymentLabel' }))
    .describe(`production first: what the name serves.`),
});

export const labelSetSchema = z.object({
  name: z.string(),
  ...labelFields,
  previous_version: z.int().nullable().describe('What it named before; null: nothing.'),
});

export const changesQuerySchema = z.strictObject(pageQuery);

const changeSchema = z
  .object({
    id: z.string(),
    at: timestamp,
    label: z.string().describe(`production: what the name serves.`),
    action: z
      .enum(['build', 'canary', 'rollback', 'label', 'delete'])
      .describe(
        'A build went live, at once or as a canary; the name went back; a label was set or removed, or its deployment was deleted.',
      ),
    from_version: z.int().nullable().describe('null: it served nothing.'),
    to_version: z.int().nullable().describe('null: it serves nothing.'),
    by: keyView,
    reason: z.string().nullable(),
  })
  .meta({ id: 'DeploymentChange' });
export const changesSchema = pageSchema(changeSchema);

export const promptQuerySchema = z.strictObject({
  label: labelSchema.optional().describe('Default: what the name serves.'),
  version: wholeParameter(1, 2_147_483_647).optional().describe('In place of a label.'),
});

export const promptSchema = z
  .object({
    name: z.string(),
    version: z.int(),
    deployment_id: z.string(),
    snapshot_id: z.string(),
    labels: z.array(z.string()).describe('Those that name this version now.'),
    messages: z
      .array(messageSchema)
      .describe('Text with demonstrations. The messages of the conversation follow them.'),
    demonstrations: z
      .object({ start: z.int(), end: z.int() })
      .nullable()
      .describe('The messages from start to before end are demonstrations, without placeholders. null: none.'),
    variables: z.array(z.string()).describe('The placeholders {{name}} of the other messages.'),
    provider: z.string(),
    model: z.string(),
    parameters: z
      .record(z.string(), z.unknown())
      .describe('Further fields of the request: {model, ...parameters, messages} is its body.'),
  })
  .meta({ id: 'Prompt', description: 'What an application needs to call the model itself.' });
