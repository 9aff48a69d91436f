/** The request fields of each search algorithm, in a session's body under the algorithm's name. */
import { z } from 'zod';
import { seedsSchema } from '../../../contracts/seeds.js';
import { wholeNumber } from '../../../contracts/validation.js';
import { maxDemos } from '../../../core/prompts/demos.js';

const count = (max: number) => wholeNumber(1, max);

const evaluationSchema = z.strictObject({
  seeds: seedsSchema(1_000)
    .optional()
    .describe(
      'Seeds of full evaluations of the baseline and the most promising candidates; best_reward is their mean. Required with a container.',
    ),
  heldout_seeds: seedsSchema(1_000)
    .optional()
    .describe('Baseline and winner are compared on these after the search, which never uses them.'),
  repeats: count(100).default(1).describe('Repetitions of each seed in an evaluation, for noisy rewards.'),
});

const maxBootstrappedDemos = 32;
const demosSchema = wholeNumber(0, maxDemos);
const defaultDemos = 64;

const gepaSchema = z.strictObject({
  population_size: count(500).describe('Proposals per generation.'),
  generations: count(2_000),
  minibatch_size: count(1_000).default(3).describe('Seeds of the first comparison of a proposal with its parent.'),
  train_seeds: seedsSchema(10_000).optional().describe('Seeds to learn from. Default: the evaluation seeds.'),
  evaluation: evaluationSchema.optional().describe('Required with a container.'),
  merge: z.boolean().default(true).describe('Whether to combine the changes of accepted proposals.'),
  component_selection: z
    .enum(['feedback', 'round_robin', 'all'])
    .default('feedback')
    .describe('The components that a proposal rewrites: those named in the feedback, each in turn, or all.'),
  demonstrations: demosSchema
    .default(defaultDemos)
    .describe(
      'The most train rows that a prompt may show as turns, with their right answers; 0: none. The search chooses rows and number, more than 16 only within about 4,000 tokens in total. Live traffic has none.',
    ),
  parent_selection: z
    .enum(['estimate', 'pareto'])
    .default('estimate')
    .describe(
      'The parent of proposals: the candidate with the highest estimated reward, or one drawn from the Pareto front over the train seeds, as in the paper. Live traffic without seeds has no front.',
    ),
});

const miproSchema = z.strictObject({
  num_candidates: count(50).describe(
    'Proposals per generation. Without a budget of rollouts, num_trials is derived from it.',
  ),
  num_trials: count(1_990)
    .optional()
    .describe(
      "Instructions and sets of demonstrations that are tested at most. Default: as many as budget.max_rollouts and progress allow; without a budget of rollouts derived from num_candidates, as in DSPy's MIPROv2.",
    ),
  minibatch_size: count(1_000).default(3).describe('Seeds of the first comparison of a proposal with its parent.'),
  max_bootstrapped_demos: wholeNumber(0, maxBootstrappedDemos)
    .default(4)
    .describe('The most good answers of the model that a prompt may show as turns, where no right answer is known.'),
  max_labeled_demos: demosSchema
    .default(defaultDemos)
    .describe(
      'The most train rows that a prompt may show as turns, with their right answers. The search chooses rows and number, more than 16 only within about 4,000 tokens in total. Live traffic has none.',
    ),
  train_seeds: seedsSchema(10_000)
    .optional()
    .describe('Seeds for demonstrations and instructions. Default: the evaluation seeds.'),
  evaluation: evaluationSchema.optional().describe('Required with a container.'),
});

const algorithmSchemas = { gepa: gepaSchema, mipro: miproSchema };

/** The section of each algorithm in a validated request. */
export type Section<Name extends AlgorithmName> = z.output<(typeof algorithmSchemas)[Name]>;
/** The fields of every section. */
export type SeedsSection = Pick<Section<AlgorithmName>, 'train_seeds' | 'evaluation'>;

export type AlgorithmName = keyof typeof algorithmSchemas;
export const algorithmNames = Object.keys(algorithmSchemas) as AlgorithmName[];

const optional = Object.entries(algorithmSchemas).map(([name, schema]) => [
  name,
  schema.optional().describe(`Required if algorithm is ${name}.`),
]);

/** The fields of all algorithms, for the body of a session. */
export const algorithmFields = Object.fromEntries(optional) as {
  [Name in AlgorithmName]: z.ZodOptional<(typeof algorithmSchemas)[Name]>;
};
