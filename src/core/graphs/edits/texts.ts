/** The prompts of steps that an edit adds without saying any. */
import type { AnswerForm } from '../graph.js';

/** Asks for an answer to be checked; `names` are the inputs that it is shown, `draft` the last of them. */
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
