/** The fields of a graph job's request that have no meaning here: kept with the job and named. */
import { hasRubric } from '../contract/dataset.js';
import type { TaskedGraphJob } from '../contract/job.js';
import { lacksRubric, readsRubric, unusedOptions } from '../../../scorers/verifier.js';

/** The values of unused fields by name; those of tasks and gold outputs as lists. */
export function unusedFields(request: TaskedGraphJob): Record<string, unknown> {
  const { dataset } = request;
  const { tasks, gold_outputs: golds = [], default_rubric: common, verifier_config: verifier } = dataset;
  const options: Record<string, unknown> = verifier;
  const named: [string, unknown][] = [
    ...(['target_llm_calls', 'eval_sample_size', 'feedback_sample_size'] as const).map((name): [string, unknown] => [
      name,
      request[name],
    ]),
    ...(['version', 'input_schema', 'output_schema', 'output_config', 'select_output'] as const).map(
      (name): [string, unknown] => [`dataset.${name}`, dataset[name]],
    ),
    ...unusedOptions(verifier).map((name): [string, unknown] => [`dataset.verifier_config.${name}`, options[name]]),
    [
      'dataset.verifier_config.scoring_guidelines',
      readsRubric(verifier.mode) && !hasRubric(dataset) ? undefined : verifier.scoring_guidelines,
    ],
    ['dataset.default_rubric.events', eventsOf(common)],
    ['dataset.tasks[].rubric.events', some(tasks.map(({ rubric }) => eventsOf(rubric)))],
    ['dataset.gold_outputs[].note', some(golds.map(({ note }) => note))],
    ['dataset.gold_outputs without task_id', some(golds.filter(({ task_id: id }) => id === undefined))],
  ];
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

/** The warnings about a request: the names of unused fields, and the mode in place of another. */
export function formWarnings({ dataset }: TaskedGraphJob, unused: Record<string, unknown>): string[] {
  const names = Object.keys(unused);
  const isCompared = lacksRubric(dataset.verifier_config, hasRubric(dataset));
  return [
    ...(names.length > 0 ? [`Not used, but kept with the job: ${names.join(', ')}.`] : []),
    ...(isCompared
      ? ['No task has a rubric, so the judge compares outputs with the gold outputs (mode gold_examples).']
      : []),
  ];
}

const eventsOf = (rubric: TaskedGraphJob['dataset']['default_rubric']): unknown =>
  typeof rubric === 'object' && 'events' in rubric ? rubric.events : undefined;

/** The values that are there; undefined: none. */
function some(values: unknown[]): unknown[] | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length > 0 ? given : undefined;
}
