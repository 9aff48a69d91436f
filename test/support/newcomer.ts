/** A newcomer's first run: 60 messages of four teams, and a prompt that does not name the teams. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Row {
  message: string;
  team: string;
}

export const newcomerTeams = ['card_control', 'cash_ops', 'payments_repair', 'records_desk'];
export const newcomerPrompt = 'Which team handles this message? Answer with the team only.';

export function newcomerRows(): Row[] {
  const lines = readFileSync(join(import.meta.dirname, '../../examples/intents/data.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const all = lines.map((line) => JSON.parse(line) as { text: string; label: string });
  return newcomerTeams
    .flatMap((team) => all.filter(({ label }) => label === team).slice(0, 15))
    .map(({ text, label }) => ({ message: text, team: label }));
}

/** The fields of a session and of an evaluation. */
export const newcomerTask = () => ({
  dataset: { rows: newcomerRows(), input: 'message', expected: 'team' },
  scorer: 'exact',
  policy: { provider: 'local', model: 'local' },
});

export const newcomerMessages = (prompt = newcomerPrompt) => [{ role: 'system', content: prompt }];
