import { Command, CommanderError, Option } from 'commander';
import type { Roles } from '../service/config.js';
import { exampleModel } from '../util/example-models.js';
import { stopEarly } from '../service/processes/early-stop.js';
import { version } from '../service/version.js';
import { accessCommands } from './access-commands.js';
import { checkupCommands } from './checkup-commands.js';
import { rowGroups } from '../core/rows/groups.js';
import { exportForms } from './export/forms.js';
import { deploymentCommands } from './deployment-commands.js';
import { runCommands } from './run-commands.js';
import { lazily } from './lazily.js';
import { amount, examplesOf, number, positive } from './values.js';

const examples = `
Without a command, ratchet runs dev.

Examples:
  $ ratchet init && ratchet optimize            a better prompt for sample rows, without a key
  $ ratchet optimize --data rows.csv --prompt prompt.txt --scorer exact \\
      --model ${exampleModel} --budget 200    the same on your rows
  $ ratchet demo                                a session on the sample container, without a key
  $ PORT=9000 ratchet dev                       the whole service on another port
  $ DATABASE_URL=postgres://… ratchet serve     the API beside your own Postgres

Settings are environment variables: docs/settings.md. Exit codes: 1 failed, 2 wrong usage, 130 Ctrl-C.`;

const program = new Command('ratchet')
  .description('Finds better prompts for a task that can score them.')
  .version(version)
  .addHelpText('after', examples)
  .showHelpAfterError('Run "ratchet --help" for the commands and examples.')
  .exitOverride();
program
  .command('dev')
  .description('API, worker, embedded Temporal and Postgres in one process tree')
  .option('--no-open', 'open no browser')
  .action(({ open }: { open: boolean }) => run({ serve: true, work: true }, { opens: open }));
program
  .command('serve')
  .description('the API alone')
  .option('--processes <count>', 'API processes on one port, for as many cores', positive, 1)
  .action(({ processes }: { processes: number }) => run({ serve: true, work: false }, { processes }));
program
  .command('worker')
  .description('a worker alone')
  .action(() => run({ serve: false, work: true }));
program
  .command('migrate-database')
  .description('prepare the database of DATABASE_URL: its roles and tables')
  .option('--print-sql', 'print the SQL for an administrator, and connect to nothing')
  .action(lazily(async () => (await import('./commands/migrate-database.js')).migrateDatabase));
program
  .command('demo')
  .description('a GEPA session on the sample container, then baseline and winner on unseen tasks')
  .option('--keep', 'keep the service running afterwards')
  .option('--provider <name>', 'provider of model calls', 'local')
  .option('--model <name>', 'model name')
  .option('--max-cost <usd>', 'maximum dollars', amount)
  .option('--dry-run', 'print the estimate and start nothing')
  .option('-y, --yes', 'ask nothing before a large or unknown cost')
  .action(lazily(async () => (await import('./commands/demo.js')).demo));
program
  .command('init')
  .description('a sample project: rows, a prompt and ratchet.json')
  .argument('[folder]', 'where to write it', '.')
  .action(lazily(async () => (await import('./commands/init.js')).init));
program
  .command('import')
  .description('rows, prompt and scorer of evals and stored prompts of OpenAI, or of promptfoo')
  .argument('<source...>', 'files, a folder, or - for standard input')
  .option('--name <name>', 'the folder to write; of several evals or prompts, the one to take')
  .option('--deploy <name>', 'serve the prompt under a name')
  .option('--dry-run', 'say what would be taken over; write and send nothing')
  .addHelpText(
    'after',
    examplesOf(
      'import eval.json rows.jsonl --dry-run',
      'import openai-evals-export --name support',
      'import prompt.json --deploy support',
    ),
  )
  .action(lazily(async () => (await import('./commands/import.js')).importSources));
taskOptions(program.command('optimize').description('a better prompt for rows, with a verdict on held-out rows'))
  .option('--proposer <provider/model>', 'the model that writes prompts; default: that of --model')
  .option('--budget <answers>', 'maximum answers; default 200', positive)
  .option(
    '--heldout <rows>',
    'rows that the search never uses; default: as many as show a difference of 0.1, within a third',
    positive,
  )
  .option(
    '--max-prompt-tokens <tokens>',
    'the longest prompt with the rows that it shows, at four bytes a token',
    positive,
  )
  .addOption(new Option('--algorithm <name>', 'how to search').choices(['gepa', 'mipro']).default('gepa'))
  .option('--out <file>', 'where to write the best prompt', 'best-prompt.txt')
  .addHelpText(
    'after',
    examplesOf(
      `optimize --data rows.csv --prompt prompt.txt --scorer exact --model ${exampleModel}`,
      'optimize --data rows.csv --prompt prompt.txt --input question --expected answer --budget 500',
      'optimize --data promptfooconfig.yaml',
      'optimize --model openai/gpt-6-luna --temperature 0 --max-cost 0.50 --dry-run',
    ),
  )
  .action(lazily(async () => (await import('./commands/optimize.js')).optimize));
program
  .command('extend')
  .description('goes on with an ended session, by default as far as its diagnosis advises')
  .argument('<id>')
  .option('--budget <answers>', 'the new total of answers', positive)
  .option('--max-cost <usd>', 'the new total of dollars', amount)
  .option('--out <file>', 'where to write the best prompt', 'best-prompt.txt')
  .option('--json', 'the results as JSON')
  .option('-y, --yes', 'ask nothing before a large or unknown cost')
  .addHelpText('after', examplesOf('extend ses_01a2', 'extend ses_01a2 --budget 400 --max-cost 2'))
  .action(lazily(async () => (await import('./commands/optimize.js')).extend));
taskOptions(program.command('eval').description('the score of a prompt on all rows'))
  .addHelpText('after', examplesOf('eval --data rows.jsonl --prompt best-prompt.txt --scorer numeric --json'))
  .action(lazily(async () => (await import('./commands/evaluate.js')).evaluate));
rowOptions(program.command('try').description('the answers of a prompt to a few rows, before a run'))
  .option('--rows <count>', 'how many, at most 20', positive, 5)
  .option('--json', 'as JSON')
  .addHelpText('after', examplesOf('try --data rows.csv --prompt prompt.txt', 'try --rows 10 --json'))
  .action(lazily(async () => (await import('./try/command.js')).tryRows));
taskOptions(
  program.command('check').description('a prompt beside its version at a commit; exit code 1 if the gate refuses'),
)
  .requiredOption('--against <ref>', 'the commit, branch or tag to compare with')
  .option('--min-reward <reward>', 'the least mean reward', number)
  .option('--min-improvement <difference>', 'the least improvement, at the low end of its 95 % interval', number)
  .option('--report <file.md>', 'write the comparison as Markdown')
  .addHelpText('after', examplesOf('check --against origin/main', 'check --against v1 --min-improvement -0.05'))
  .action(lazily(async () => (await import('./check/command.js')).check));
program
  .command('list')
  .description('the newest jobs')
  .option('--limit <count>', 'how many', positive, 20)
  .option('--json', 'as JSON')
  .action(lazily(async () => (await import('./commands/jobs.js')).list));
program
  .command('watch')
  .description('follow a job to its end')
  .argument('<id>')
  .option('--json', 'the result as JSON')
  .action(lazily(async () => (await import('./commands/jobs.js')).watch));
program
  .command('results')
  .description('the results of a job as JSON')
  .argument('<id>')
  .action(lazily(async () => (await import('./commands/jobs.js')).results));
program
  .command('rows')
  .description('the rows of a job with their answers, such as those that are still wrong')
  .argument('<id>', 'a session, an evaluation or a graph job')
  .addOption(new Option('--group <group>', 'rows of one group').choices(rowGroups))
  .option('--search <text>', 'rows with a part of a text')
  .option('--limit <count>', 'how many', positive, 20)
  .option('--csv', 'all that pass, as CSV')
  .option('--json', 'all that pass, as JSON')
  .addHelpText('after', examplesOf('rows ses_0123 --group failing', 'rows evl_0123 --group failing --csv > wrong.csv'))
  .action(lazily(async () => (await import('./commands/rows.js')).rows));
program
  .command('export')
  .description('the best prompt or the answers of a job, for another tool')
  .argument('<id>', 'a session, a candidate, an evaluation or a graph job')
  .addOption(new Option('--to <form>', 'the form').choices(exportForms).default('prompt.txt'))
  .option('--out <file>', 'where to write it; default: standard output')
  .addHelpText(
    'after',
    examplesOf(
      'export ses_0123 --to promptfoo --out promptfooconfig.yaml',
      'export evl_0123 --to langfuse-traces --out traces.jsonl',
      'export ses_0123 --to report --out report.html',
    ),
  )
  .action(lazily(async () => (await import('./commands/export.js')).exportJob));
program
  .command('compare')
  .description('whether B, or one of up to seven, is better than A, row by row; exit code 1 if not')
  .argument('<a>', 'an evaluation, session, candidate or deployment')
  .argument('<b...>', 'others, which are compared with A')
  .option('--json', 'as JSON')
  .addHelpText('after', examplesOf('compare evl_0123 evl_4567', 'compare support-v1 support-v2 support-v3 --json'))
  .action(lazily(async () => (await import('./commands/compare.js')).compare));
deploymentCommands(program);
checkupCommands(program);
runCommands(program);
program
  .command('doctor')
  .description('checks of the service, the model and a container')
  .argument('[container-url]')
  .option(
    '--model <provider/model>',
    'a model to ask for all that it takes, and that the container calls; default: that of ratchet.json, asked once',
  )
  .option('--proposer <provider/model>', 'the model that writes prompts; default: the same')
  .option('--json', 'the checks as JSON')
  .addHelpText('after', examplesOf(`doctor http://127.0.0.1:8080 --model ${exampleModel}`))
  .action(lazily(async () => (await import('./commands/doctor.js')).doctor));
program
  .command('mcp')
  .description('the service as tools for coding agents (MCP, standard input and output)')
  .option('--folder <folder>', 'the working folder; default: where the agent starts it')
  .action(lazily(async () => (await import('./mcp/command.js')).mcp));
for (const name of ['pause', 'resume', 'cancel'] as const)
  program
    .command(name)
    .description(`${name} a job`)
    .argument('<id>')
    .action(async (id: string) => (await import('./commands/jobs.js')).command(name, id));
accessCommands(program);

function rowOptions(task: Command): Command {
  return task
    .option('--data <file>', 'rows as JSON, JSONL or CSV, or a promptfooconfig.yaml')
    .option('--prompt <file>', 'the prompt; {{column}} stands for a value of the row')
    .option('--input <column>', 'the column of {{input}}')
    .option('--expected <column>', 'the column with the right answers')
    .option('--scorer <name|file.json>', 'how answers are scored; default exact')
    .option('--model <provider/model>', 'the model that answers; default local')
    .option('--temperature <number>', 'temperature of the model that answers', number)
    .option('--max-tokens <count>', 'maximum tokens of an answer', positive)
    .option('--param <name=value...>', 'another parameter of the model that answers, such as top_p=0.9');
}

function taskOptions(task: Command): Command {
  return rowOptions(task)
    .option('--max-cost <usd>', 'maximum dollars', amount)
    .option('--dry-run', 'print the estimate and the first request, and start nothing')
    .option('-y, --yes', 'ask nothing before a large or unknown cost')
    .option('--name <name>', 'the name of the job in lists')
    .option('--tag <tag...>', 'tags of the job in lists')
    .option('--json', 'the result as JSON');
}

/** Loads the service only for the commands that run it. */
async function run(roles: Roles, options?: { processes?: number; opens?: boolean }): Promise<void> {
  stopEarly();
  await (await import('./commands/serve.js')).serve(roles, options);
}

/** Runs a command; returns its exit code. */
export async function main(given: readonly string[]): Promise<number> {
  // Roles run under a supervisor: write the cause of their end to the log.
  const isLogged = ['serve', 'worker'].includes(given[0] ?? '') && !process.stderr.isTTY;
  try {
    await program.parseAsync(given.length > 0 ? given : ['dev'], { from: 'user' });
    return 0;
  } catch (error) {
    // Help and version end with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return (await import('./explain.js')).explain(error, isLogged);
  }
}
