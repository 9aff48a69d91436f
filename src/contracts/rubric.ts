/** Rubrics of judges in requests. */
import { z } from 'zod';
import { unionError, unusedSchema } from './validation.js';

const maxCriteria = 20;

/** Maximum characters of a rubric's text. */
export const maxRubric = 20_000;

/** Identity of a criterion's name, as for the judge. */
const criterionKey = (name: string) =>
  name.normalize('NFC').replaceAll(/\s+/gu, ' ').trim().toLowerCase().normalize('NFC');

const criterionSchema = z.strictObject({
  name: z.string().max(100).regex(/\S/, 'must not be blank'),
  weight: z.number().gt(0).max(1_000_000).default(1).describe('Relative to the sum of all weights.'),
  description: z.string().max(maxRubric).default(''),
});
const criteriaOf = <Item extends typeof criterionSchema>(item: Item) =>
  z
    .array(item)
    .max(maxCriteria, `must hold at most ${maxCriteria} criteria`)
    .superRefine((criteria, ctx) => {
      const names = criteria.map(({ name }) => criterionKey(name));
      for (const [index, name] of names.entries()) {
        if (names.indexOf(name) === index) continue;
        const message = `repeats the name of criteria.${names.indexOf(name)}`;
        ctx.addIssue({ code: 'custom', path: [index, 'name'], message });
      }
    });
const rubricObjectSchema = z
  .strictObject({
    criteria: criteriaOf(criterionSchema).min(1, 'must hold at least one criterion'),
  })
  .meta({ id: 'Rubric' });

const expectingSchema = criterionSchema.extend({ expected_answer: z.string().max(maxRubric).optional() });
/** The existing client's form of a rubric. */
export const outcomeRubricSchema = z.strictObject({
  outcome: z.strictObject({ criteria: criteriaOf(expectingSchema) }).nullable(),
  events: unusedSchema,
});

export const rubricSchema = z
  .union(
    [z.string().regex(/\S/, 'must not be blank').max(maxRubric), rubricObjectSchema],
    unionError('a text or {"criteria": [{"name", "weight", "description"}]}'),
  )
  .describe(
    'The criteria of the judge. A text is a list of criteria if all its lines are "- name (weight): description", else one criterion.',
  );
export type Rubric = z.infer<typeof rubricSchema>;
