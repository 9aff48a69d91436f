/** HTML whose values are escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** null and false show nothing. */
export type Shown = Html | string | number | null | false | readonly Shown[];

export function markup(parts: TemplateStringsArray, ...values: Shown[]): Html {
  return new Html(parts.map((part, at) => part + (at < values.length ? textOf(values[at]!) : '')).join(''));
}

function textOf(value: Shown): string {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(textOf).join('');
  return value === null || value === false ? '' : escaped(String(value));
}

const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => names[character]!);
