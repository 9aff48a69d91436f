import type { Answer } from '../../client/index.js';
import { say, shortLine, table } from './output.js';

type Diagnosis = Answer<'getSessionResults'>['diagnosis'];

const mostChars = 50;

/** Prints what happened in a run and what to do now; nothing where there is nothing to say. */
export function sayDiagnosis(diagnosis: Diagnosis): void {
  if (!diagnosis) return;
  const { sentence, facts, rows, action } = diagnosis;
  say(`\n${sentence}`);
  for (const fact of facts) say(`  ${fact}`);
  if (rows.length > 0) {
    const cells = rows.map(({ row, expected, answered, because }) => [
      String(row),
      shortLine(expected, mostChars),
      shortLine(answered, mostChars),
      because,
    ]);
    say(table([['ROW', 'EXPECTED', 'ANSWERED', 'CAUSE'], ...cells]));
  }
  if (action) say(`Next: ${action.label}.${action.prompt_addition ? ` Add to it: ${action.prompt_addition}` : ''}`);
}
