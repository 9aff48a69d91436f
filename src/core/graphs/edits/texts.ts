/** Default prompts of steps that an edit adds. */
import type { AnswerForm } from '../graph.js';

/** The prompt to verify an answer. `names` are its inputs; `draft` is the last. */
export function defaultVerify(names: readonly string[], form: AnswerForm): string {
  const given = names.filter((name) => name !== 'draft').map((name) => `${name}:\n{{${name}}}`);
  return [
    'An assistant was given a task and has answered it.',
    ...given,
    'Its answer:\n{{draft}}',
    'Work out for yourself whether the answer is right. Then give the right answer alone, in exactly the form that the answer has; ' +
      'where it is right, give it as it is.',
    ...('field' in form ? [] : [`Answer with JSON of this form alone: ${JSON.stringify(form.schema)}`]),
  ].join('\n\n');
}
