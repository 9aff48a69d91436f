/** Values of options, and examples in the help. */
import { InvalidArgumentError } from 'commander';

export function positive(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('must be a whole number above 0.');
  return number;
}

export function amountOf(what: string): (text: string) => number {
  return (text) => {
    const value = number(text);
    if (value <= 0) throw new InvalidArgumentError(`must be ${what} above 0.`);
    return value;
  };
}

export function amount(text: string): number {
  const value = number(text);
  if (value <= 0) throw new InvalidArgumentError('must be dollars above 0, such as 0.5.');
  return value;
}

export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('must be a number.');
  return value;
}

export function examplesOf(...commands: string[]): string {
  return `\nExamples:\n${commands.map((line) => `  $ ratchet ${line}`).join('\n')}`;
}
