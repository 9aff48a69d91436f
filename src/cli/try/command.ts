import type { Answer, Ratchet } from '../../client/index.js';
import { withService } from '../service/connect.js';
import { sayDiagnosis } from '../service/diagnosis.js';
import { decimal, dollars, note, say, sayJson, shortLine, table } from '../service/output.js';
import { inOptions } from '../task/faults.js';
import type { Prompt } from '../task/prompt-file.js';
import { evaluationRequest, type TaskRequest } from '../task/requests.js';
import { promptOf, readTask, type TaskOptions } from '../task/task.js';
import { taskFields } from '../task/upload.js';

export interface TryOptions extends Omit<TaskOptions, 'budget' | 'proposer'> {
  rows: number;
  json?: boolean;
}

type Tried = Answer<'tryPrompt'>;

const mostChars = 40;

/** Prints the answers of a prompt to a few rows. */
export async function tryRows({ rows, json = false, ...options }: TryOptions): Promise<void> {
  const task = await readTask(options);
  const prompt = await promptOf(task);
  await withService(async (client) => {
    const tried = await inOptions(async () => askRows(client, await taskFields(client, task), prompt, rows));
    if (json) return sayJson(tried);
    say(table([['ROW', 'TEXT', 'EXPECTED', 'ANSWER', 'REWARD'], ...tried.rows.map(cellsOf)]));
    say(`Mean reward ${decimal(tried.mean_reward)} in ${tried.seconds.toFixed(1)} s, ${dollars(tried.total_cost_usd)}`);
    sayDiagnosis(tried.diagnosis);
    for (const warning of tried.warnings) note(`Note: ${warning}`);
  });
}

export function askRows(client: Ratchet, fields: TaskRequest, prompt: Prompt, rows: number): Promise<Tried> {
  return client.evaluations.tryRows({ ...evaluationRequest(fields, {}, prompt, {}), rows });
}

function cellsOf({ row, text, expected, answer, reward, error }: Tried['rows'][number]): string[] {
  const shown = error === null ? answer : `${error.code}: ${error.message}`;
  const texts = [text, expected, shown].map((each) => shortLine(each, mostChars));
  return [String(row), ...texts, decimal(reward)];
}
