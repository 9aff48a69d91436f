import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** A diff with colours, if standard output is a terminal that shows them. */
export function coloured(diff: string): string {
  return diff.split('\n').map(line).join('\n');
}

function line(text: string): string {
  const style = styleOf(text);
  return style === null ? text : styleText(style, text, { stream: process.stdout, validateStream: true });
}

function styleOf(text: string): Style | null {
  if (/^(---|\+\+\+|===)/.test(text)) return 'bold';
  if (text.startsWith('@@')) return 'cyan';
  if (text.startsWith('+')) return 'green';
  return text.startsWith('-') ? 'red' : null;
}
