import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { startEvaluation } from '../commands/evaluate.js';
import { askRows } from '../try/command.js';
import { startSession } from '../commands/optimize.js';
import type { Files } from '../task/files.js';
import { defaultScorer } from '../../scorers/forms.js';
import { typeOf } from '../../scorers/scorer.js';
import { scorers } from '../../scorers/table.js';
import { promptOf, readTask, type ReadTask } from '../task/task.js';
import { taskFields } from '../task/upload.js';
import { answer } from './answer.js';
import { refuseTargets } from './bounds.js';
import type { ToolService } from './service.js';
import { splitCounts } from './views.js';

const taskSchema = z.strictObject({
  data: z.string().optional().describe('File of the rows: JSON, JSONL or CSV. Default: that of ratchet.json.'),
  prompt: z
    .string()
    .optional()
    .describe('File of the prompt: a text, or JSON with messages; {{column}} stands for a value of the row.'),
  input: z.string().optional().describe('Column of {{input}}; default input.'),
  expected: z.string().optional().describe('Column with the right answers; default expected.'),
  scorer: z
    .string()
    .optional()
    .describe(
      `Scorer by name (${scorers.map(typeOf).join(', ')}), as JSON, or a .json file; default ${defaultScorer}. One with a URL or code is that of ratchet.json.`,
    ),
  model: z.string().optional().describe('provider/model that answers; default local, a stand-in without cost.'),
  name: z.string().optional().describe('Name of the job in lists.'),
});

/** Tools that start jobs on files of the working folder; ratchet.json has the defaults. */
export function registerTaskTools(server: McpServer, service: ToolService, files: Files): void {
  server.registerTool(
    'evaluate',
    {
      description: 'Start scoring a prompt on all rows. Returns the id of the evaluation at once; watch it.',
      inputSchema: taskSchema,
    },
    async ({ name, ...options }) => {
      const task = await taskOf(options, files);
      const prompt = await promptOf(task);
      return service.use(async ({ client }) =>
        answer({ id: await startEvaluation(client, await taskFields(client, task), task, prompt, { name }) }),
      );
    },
  );

  server.registerTool(
    'try_prompt',
    {
      description:
        'The answers of a prompt to a few rows, with expected values and rewards, within a minute: the cheap look before evaluate and optimize.',
      inputSchema: taskSchema
        .omit({ name: true })
        .extend({ rows: z.int().min(1).max(20).default(5).describe('How many rows.') }),
    },
    async ({ rows, ...options }) => {
      const task = await taskOf(options, files);
      const prompt = await promptOf(task);
      return service.use(async ({ client }) => {
        return answer(await askRows(client, await taskFields(client, task), prompt, rows));
      });
    },
  );

  server.registerTool(
    'optimize',
    {
      description:
        'Start a search for a better prompt. Returns the id of the session, the sizes of the parts of the rows and the estimated cost at once; watch it.',
      inputSchema: taskSchema.extend({
        proposer: z.string().optional().describe('provider/model that writes prompts; default: the model.'),
        budget: z.int().min(1).optional().describe('Maximum answers; default 200.'),
        algorithm: z.enum(['gepa', 'mipro']).default('gepa'),
      }),
    },
    async ({ name, algorithm, ...options }) => {
      const task = await taskOf(options, files);
      const prompt = await promptOf(task);
      return service.use(async ({ client }) => {
        const created = await startSession(client, task, prompt, { algorithm, name });
        const { session_id: id, estimate, split = {}, warnings = [] } = created;
        return answer({ id, estimate, split: splitCounts(split), warnings });
      });
    },
  );
}

type Arguments = Omit<z.output<typeof taskSchema>, 'name'> & {
  proposer?: string | undefined;
  budget?: number | undefined;
};

/** The task of a call; its own scorer has neither URL nor code. */
async function taskOf(given: Arguments, files: Files): Promise<ReadTask> {
  const task = await readTask(present(given), files);
  if (given.scorer !== undefined) refuseTargets(task.scorer, '--scorer');
  return task;
}

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** The given options. */
function present<T extends object>(options: T): Partial<Present<T>> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<Present<T>>;
}
