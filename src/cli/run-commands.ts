import { Option, type Command } from 'commander';
import { runSorts } from '../runs/contract/run.js';
import { lazily } from './lazily.js';
import { examplesOf, positive } from './values.js';

/** Adds `runs`, `diff` and `datasets`. */
export function runCommands(program: Command): void {
  program
    .command('runs')
    .description('sessions, evaluations and graph jobs, with verdict, gain and cost')
    .addOption(
      new Option('--sort <order>', 'the order; - for descending')
        .choices(runSorts.flatMap((sort) => [sort, `-${sort}`]))
        .default('-created'),
    )
    .addOption(new Option('--group-by <part>', 'also the sums of groups').choices(['dataset', 'model', 'tag']))
    .option('--dataset <id>', 'only runs on this data set')
    .option('--tag <tag>', 'only runs with this tag')
    .option('--limit <count>', 'how many', positive, 20)
    .option('--json', 'as JSON')
    .addHelpText('after', examplesOf('runs --sort -gain', 'runs --sort -gain --group-by dataset --tag nightly'))
    .action(lazily(async () => (await import('./runs/runs.js')).runs));
  program
    .command('diff')
    .description('what a prompt changes in another, edit by edit, with the rows that each edit won and lost')
    .argument('<a>', 'a session, a graph job, a candidate, a deployment, or the file of a prompt')
    .argument('[b]', 'the later prompt; default: that of A, against its baseline')
    .option('--against <prompt>', 'parent, or a candidate of the same job; default: the baseline')
    .option('--without <number>', 'evaluate the prompt without this edit of the list, and compare', positive)
    .option('--yes', 'do not ask before a large or unknown cost')
    .option('--json', 'as JSON')
    .addHelpText('after', examplesOf('diff ses_0123', 'diff ses_0123 --without 2', 'diff prompt.txt ses_0123'))
    .action(lazily(async () => (await import('./runs/diff.js')).diff));
  const datasets = program.command('datasets').description('data sets with their names, and the jobs that use them');
  datasets
    .command('list', { isDefault: true })
    .description('data sets, newest first')
    .option('--limit <count>', 'how many', positive, 20)
    .option('--json', 'as JSON')
    .action(lazily(async () => (await import('./runs/datasets.js')).list));
  datasets
    .command('rename')
    .description('name a data set')
    .argument('<id>', 'the data set')
    .argument('<name>', 'its new name')
    .action(lazily(async () => (await import('./runs/datasets.js')).rename));
  datasets
    .command('delete')
    .description('delete a data set that no job uses')
    .argument('<id>', 'the data set')
    .action(lazily(async () => (await import('./runs/datasets.js')).remove));
}
