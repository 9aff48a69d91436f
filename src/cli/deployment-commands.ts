import { Argument, type Command } from 'commander';
import { exampleModel } from '../util/example-models.js';
import { lazily } from './lazily.js';
import { amount, amountOf, examplesOf, positive } from './values.js';

/** Adds `deploy`, `rollout` and `migrate`. */
export function deploymentCommands(program: Command): void {
  program
    .command('deploy')
    .description('serve a prompt under a name, once its gate is passed; exit code 1 if it refuses')
    .argument('<source>', 'a session, a graph job, a migration, or the file of a prompt')
    .requiredOption('--name <name>', 'the name that callers use')
    .option('--model <provider/model>', 'the model of a file; default: that of ratchet.json')
    .option('--gate <file.json>', 'the gate of the deployment, as in the API')
    .option('--rollout <file.json>', 'the steps by which it takes requests, as in the API; default: all at once')
    .option('--json', 'the deployment as JSON')
    .addHelpText(
      'after',
      examplesOf(
        'deploy ses_0123 --name support --gate gate.json',
        'deploy ses_0123 --name support --rollout rollout.json',
        `deploy best-prompt.txt --name support --model ${exampleModel}`,
      ),
    )
    .action(lazily(async () => (await import('./commands/deploy.js')).deploy));
  program
    .command('rollout')
    .description('how far a new version of a name has come; pause, resume, promote or roll_back decides')
    .argument('<name>', 'the name, or the id of the new version')
    .addArgument(
      new Argument('[action]', 'what to do; default: show it').choices(['pause', 'resume', 'promote', 'roll_back']),
    )
    .option('--reason <text>', 'why, for the list of changes')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      examplesOf('rollout support', 'rollout support promote --reason "Two days without a complaint"'),
    )
    .action(lazily(async () => (await import('./commands/rollout.js')).rollout));
  program
    .command('migrate')
    .description('move a deployment to another model, if it is no worse there; exit code 1 if that is not shown')
    .argument('<name>', 'the name that callers use')
    .requiredOption('--to <provider/model>', 'the new model')
    .option(
      '--max-loss <difference>',
      'the loss of mean reward that counts as none; default 0.02',
      amountOf('a difference'),
    )
    .option('--data <file>', 'rows that decide; default: those of the gate or of the session of what is live')
    .option('--dataset <id>', 'the same as an uploaded data set')
    .option('--input <column>', 'the column of {{input}}')
    .option('--expected <column>', 'the column with the right answers')
    .option('--scorer <name|file.json>', 'how answers to these rows are scored; default: as those of what is live were')
    .option('--no-optimize', 'look for no other prompt where the new model is worse')
    .option('--proposer <provider/model>', 'the model that writes prompts; default: the new model')
    .option('--budget <answers>', 'maximum answers of the search; default 200', positive)
    .option('--max-cost <usd>', 'maximum dollars of all its jobs', amount)
    .option('--param <name=value...>', 'a parameter of the new model, such as temperature=0; null removes one')
    .option('--deploy', 'serve it under the name if it is no worse')
    .option('--rollout <file.json>', 'the same, step by step, as in the API')
    .option('--json', 'the migration as JSON')
    .addHelpText(
      'after',
      examplesOf(
        `migrate support --to ${exampleModel}`,
        `migrate support --to ${exampleModel} --max-loss 0.05 --deploy`,
      ),
    )
    .action(lazily(async () => (await import('./commands/migrate.js')).migrate));
}
