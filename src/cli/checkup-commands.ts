import { Option, type Command } from 'commander';
import { lazily } from './lazily.js';
import { amount, amountOf, examplesOf, positive } from './values.js';

/** Adds `checkup`, `improve`, `approve` and `schedules`. */
export function checkupCommands(program: Command): void {
  checkupOptions(
    program
      .command('checkup')
      .description('whether what a name serves still answers as at its release; exit code 1 if it is worse')
      .argument('<name>', 'the name that callers use'),
  )
    .option('--json', 'the checkup as JSON')
    .addHelpText(
      'after',
      examplesOf('checkup support', 'checkup support --improve if_worse --max-cost 2', 'checkup support --no-rows'),
    )
    .action(lazily(async () => (await import('./commands/checkup.js')).checkup));
  searchOptions(
    trafficOptions(
      program
        .command('improve')
        .description('a better prompt from recent requests of a name, rolled out step by step')
        .argument('<name>', 'the name that callers use'),
      400,
    ),
  )
    .option('--json', 'the job as JSON')
    .addHelpText('after', examplesOf('improve support --max-cost 2', 'improve support --max-age 7d --require-approval'))
    .action(lazily(async () => (await import('./commands/checkup.js')).improve));
  program
    .command('approve')
    .description('deploy the better prompt that a checkup has found, or reject it')
    .argument('<id>', 'a checkup whose winner awaits approval')
    .option('--reject', 'do not deploy it')
    .option('--reason <text>', 'why, for the list of changes')
    .option('--json', 'the checkup as JSON')
    .addHelpText('after', examplesOf('approve chk_0123', 'approve chk_0123 --reject --reason "Too long"'))
    .action(lazily(async () => (await import('./commands/checkup.js')).approve));
  scheduleCommands(program.command('schedules').description('checkups of names again and again'));
}

const commands = () => import('./commands/schedules.js');

function scheduleCommands(schedules: Command): void {
  schedules
    .command('list', { isDefault: true })
    .description('all schedules, those of a name, or one with its latest runs')
    .argument('[name]', 'a name, or the id of a schedule')
    .option('--json', 'as JSON')
    .action(lazily(async () => (await commands()).listSchedules));
  checkupOptions(
    schedules
      .command('create')
      .description('check a name up again and again')
      .argument('<name>', 'the name that callers use'),
  )
    .option('--every <time>', 'time between two runs, such as 6h or 7d')
    .option('--cron <expression>', 'minute, hour, day of month, month, day of week: "0 3 * * 1" is Monday at 3')
    .option('--timezone <zone>', 'of --cron, such as Europe/Berlin; default UTC')
    .option('--max-cost-per-month <usd>', 'maximum dollars of all runs of a month', amount)
    .option('--json', 'the schedule as JSON')
    .addHelpText(
      'after',
      examplesOf(
        'schedules create support --every 1d',
        'schedules create support --cron "0 3 * * 1" --improve if_worse --max-cost-per-month 20',
      ),
    )
    .action(lazily(async () => (await commands()).createSchedule));
  for (const [name, description] of [
    ['pause', 'let its times pass without a run'],
    ['resume', 'run it at its times again'],
  ] as const)
    schedules
      .command(name)
      .description(description)
      .argument('<id>')
      .action(async (id: string) => (await commands()).pauseSchedule(id, name === 'pause'));
  schedules
    .command('run')
    .description('run it now; exit code 1 if no checkup begins')
    .argument('<id>')
    .option('--json', 'the run as JSON')
    .action(lazily(async () => (await commands()).runSchedule));
  schedules
    .command('delete')
    .description('delete it; the checkups of its runs stay')
    .argument('<id>')
    .action(lazily(async () => (await commands()).deleteSchedule));
}

/** Options of a checkup. */
function checkupOptions(command: Command): Command {
  command
    .addOption(
      new Option('--improve <when>', 'look for a better prompt, and roll it out').choices(['if_worse', 'always']),
    )
    .option('--no-rows', 'check recent requests alone, not the rows of the gate')
    .option(
      '--max-change <difference>',
      'the difference of mean reward that counts as none; default 0.02',
      amountOf('a difference'),
    );
  return searchOptions(trafficOptions(command, 100));
}

function trafficOptions(command: Command, requests: number): Command {
  return command
    .option('--requests <count>', `how many of the latest requests become rows; default ${requests}`, positive)
    .option('--max-age <time>', 'requests of this time alone, such as 7d')
    .option('--answers-count', 'count an answer without a correction as right')
    .option('--scorer <name|file.json>', 'how answers to requests are scored; default: as the judge of the name does');
}

function searchOptions(command: Command): Command {
  return command
    .option('--proposer <provider/model>', 'the model that writes prompts; default: the live one')
    .option('--budget <answers>', 'maximum answers of the search; default 200', positive)
    .option('--max-cost <usd>', 'maximum dollars of all its jobs together', amount)
    .option('--no-deploy', 'deploy no better prompt')
    .option('--require-approval', 'deploy a better prompt once somebody approves it');
}
