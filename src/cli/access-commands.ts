import { InvalidArgumentError, Option, type Command } from 'commander';
import { scopes } from '../access/contract/scopes.js';
import { lazily } from './lazily.js';

const access = () => import('./commands/access.js');

/** Adds `orgs`, `keys`, `limits`, `provider-keys` and `audit`. */
export function accessCommands(program: Command): void {
  ofOrg(program.command('audit').description('the newest changes, and the keys that made them'))
    .option('--limit <count>', 'how many, up to 1000', wholeNumber, 20)
    .option('--json', 'as JSON')
    .action(lazily(async () => (await access()).listAuditLog));

  const orgs = program.command('orgs').description('organizations');
  orgs
    .command('create')
    .description('a new organization (operators); prints its id')
    .argument('<name>')
    .option('--json', 'as JSON')
    .action(lazily(async () => (await access()).createOrg));
  orgs
    .command('list')
    .description('all organizations for an operator, otherwise your own')
    .option('--json', 'as JSON')
    .action(lazily(async () => (await access()).listOrgs));
  orgs
    .command('delete')
    .description('delete an organization with all its data (operators)')
    .argument('<id>')
    .requiredOption('--confirm <name>', 'its name')
    .action(lazily(async () => (await access()).deleteOrg));

  const keys = program.command('keys').description('API keys of an organization');
  ofOrg(keys.command('create').description('a new key; prints it this once'))
    .argument('<name>')
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(scopes).makeOptionMandatory())
    .option('--expires <time>', 'when it ends, in ISO 8601 with an offset; default: never')
    .option('--json', 'as JSON')
    .action(lazily(async () => (await access()).createKey));
  ofOrg(keys.command('list').description('the keys, newest first'))
    .option('--json', 'as JSON')
    .action(lazily(async () => (await access()).listKeys));
  ofOrg(keys.command('rotate').description('a key in place of another one; prints it this once'))
    .argument('<id>')
    .option('--grace <seconds>', 'how long the replaced key stays valid', wholeNumber, 0)
    .option('--json', 'as JSON')
    .action(lazily(async () => (await access()).rotateKey));
  ofOrg(keys.command('revoke').description('end a key for good'))
    .argument('<id>')
    .action(lazily(async () => (await access()).revokeKey));

  const limits = program.command('limits').description('what an organization or one of its keys may use');
  ofOrg(limits.command('show').description('the limits of the organization, or of a key'))
    .option('--key <id>', 'of a key')
    .option('--json', 'as JSON')
    .action(lazily(async () => (await import('./commands/limits.js')).showLimits));
  ofOrg(limits.command('set').description('change limits; the others stay'))
    .option('--key <id>', 'of a key')
    .option('--requests-per-minute <count>', 'requests in a minute, or none', limitOf)
    .option('--calls-in-flight <count>', 'model calls at a time, or none', limitOf)
    .option('--open-jobs <count>', 'jobs that have not ended, or none', limitOf)
    .option('--stored-bytes <bytes>', 'data sets, requests and model calls of an organization, or none', bytesOf)
    .option('--spend-usd-per-day <dollars>', 'cost of model calls in a UTC day, or none', dollars)
    .option('--json', 'as JSON')
    .action(lazily(async () => (await import('./commands/limits.js')).setLimits));

  const providerKeys = program.command('provider-keys').description("an organization's own keys of model providers");
  ofOrg(providerKeys.command('set').description('set the key that standard input holds'))
    .argument('<provider>')
    .action(lazily(async () => (await access()).setProviderKey));
  ofOrg(providerKeys.command('list').description('the providers with a key'))
    .option('--json', 'as JSON')
    .action(lazily(async () => (await access()).listProviderKeys));
  ofOrg(providerKeys.command('delete').description('delete a key'))
    .argument('<provider>')
    .action(lazily(async () => (await access()).deleteProviderKey));
}

function ofOrg(command: Command): Command {
  return command.option('--org <id>', 'another organization (operators)');
}

/** A limit, or none: commander drops null. */
function limitOf(text: string): number | 'none' {
  return text === 'none' ? 'none' : wholeNumber(text);
}

function bytesOf(text: string): number | 'none' {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('must be a number of bytes, or none.');
  return Number(text);
}

function dollars(text: string): number | 'none' {
  if (text === 'none') return text;
  if (!/^\d{1,9}(\.\d{1,9})?$/.test(text)) throw new InvalidArgumentError('must be an amount such as 12.50, or none.');
  return Number(text);
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number.');
  return Number(text);
}
