import type { Answer } from '../../client/index.js';
import { say, shortLine, table } from './output.js';

type Diagnosis = Answer<'getSessionResults'>['diagnosis'];

const mostChars = 50;

/** Prints what happened in a run and what to do now; nothing where there is nothing to say. */
export function sayDiagnosis(diagnosis: Diagnosis, jobId = 'ID'): void {
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
  if (action) say(`Next: ${action.label}${howTo(action, jobId)}`);
}

/** Where the command line takes the next step. */
function howTo({ kind, prompt_addition: addition }: NonNullable<NonNullable<Diagnosis>['action']>, id: string): string {
  if (kind === 'read_rows') return `: ratchet rows ${id} --group failing`;
  if (kind === 'deploy') return `: ratchet deploy ${id} --name NAME`;
  if (kind === 'extend') return `: ratchet extend ${id}`;
  return addition ? `. Add to it: ${addition}` : '.';
}
