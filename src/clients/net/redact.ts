import { parseObject } from './untrusted.js';

/** Replaces a secret in a text. */
export const mask = '***';
/** Shorter keys are placeholders such as "ollama", and occur in ordinary text. */
const minSecretLength = 8;
/** A text that ends with fewer characters of a secret may go on: they tell nothing. */
const minOverlap = 4;
/** Deeper parts of a value that is redacted become null: they would exhaust the stack. */
const maxDepth = 64;

/**
 * The end of a printable ASCII character as percent-encoding or JSON escape, whatever repeats
 * before it. No repetition: a run of a million would exhaust the stack of the search.
 */
const escape = /%[2-7][0-9a-f]|\\(?:u00[2-7][0-9a-f]|\/)/i;

/** The place of a secret in a text. */
export interface Occurrence {
  start: number;
  end: number;
}

/**
 * Replaces secrets in texts of those who received them: as they are, in base64 (also within a
 * longer text, as in basic authentication), and escaped for JSON or a URL.
 */
export class Redactor {
  private readonly forms: readonly string[];
  private compiled: RegExp | null = null;
  /** Characters of the longest form. */
  readonly longest: number;

  constructor(secrets: readonly (string | null)[]) {
    this.forms = secrets.flatMap((secret) => (secret && secret.length >= minSecretLength ? formsOf(secret) : []));
    this.longest = Math.max(0, ...this.forms.map((form) => form.length));
  }

  /** Any of the forms. Most texts have none, and compiling takes longer than the look for them. */
  private get pattern(): RegExp {
    return (this.compiled ??= new RegExp(this.forms.map(asPattern).join('|') || '(?!)', 'g'));
  }

  /** Whether there is nothing to hide. */
  get isIdle(): boolean {
    return this.forms.length === 0;
  }

  /** Whether a text contains a secret. */
  isIn(text: string): boolean {
    return this.isPlainlyIn(text) || (!this.isIdle && hasEscape(text) && this.isPlainlyIn(unescaped(text)));
  }

  /** Whether a JSON value contains a secret in a text, a number or a name. */
  isWithin(value: unknown): boolean {
    if (this.isIdle) return false;
    for (const open: unknown[] = [value]; open.length > 0;) {
      const next = open.pop();
      if (typeof next === 'string' && this.isIn(next)) return true;
      if (typeof next === 'number' && this.forms.includes(String(next))) return true;
      if (typeof next !== 'object' || next === null) continue;
      for (const [name, item] of Object.entries(next)) {
        if (!Array.isArray(next) && this.isIn(name)) return true;
        open.push(item);
      }
    }
    return false;
  }

  /** A text without the secrets; unescaped if a secret is escaped. */
  text(text: string): string {
    if (!this.isIn(text)) return text;
    const redacted = this.replace(text);
    return this.isIn(redacted) ? this.replace(unescaped(redacted)) : redacted;
  }

  /** A body without the secrets. A JSON object stays one, numbers and nesting included. */
  body(text: string): string {
    if (!this.isIn(text)) return text;
    const json = parseObject(text);
    return json ? JSON.stringify(this.value(json)) : this.text(text);
  }

  /** A JSON value without the secrets in texts and names. */
  value(value: unknown, depth = maxDepth): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.forms.includes(String(value)) ? mask : value;
    if (typeof value !== 'object' || value === null) return value;
    if (depth === 0) return null;
    if (Array.isArray(value)) return value.map((item) => this.value(item, depth - 1));
    const fields = Object.entries(value);
    return Object.fromEntries(fields.map(([name, item]) => [this.text(name), this.value(item, depth - 1)]));
  }

  /** The unescaped occurrences, in order. */
  *occurrences(text: string): Generator<Occurrence> {
    for (const { 0: form, index } of text.matchAll(this.pattern)) yield { start: index, end: index + form.length };
  }

  /** Whether the end of a text can be the beginning of a secret. */
  mayBeginAtEnd(text: string): boolean {
    return this.forms.some((form) => {
      const head = form.slice(0, minOverlap);
      for (let at = text.indexOf(head); at >= 0; at = text.indexOf(head, at + 1)) {
        if (form.startsWith(text.slice(at))) return true;
      }
      return false;
    });
  }

  private isPlainlyIn(text: string): boolean {
    return this.forms.some((form) => text.includes(form));
  }

  private replace(text: string): string {
    return text.replace(this.pattern, mask);
  }
}

function formsOf(secret: string): string[] {
  const forms = [secret];
  if (/["\\]/.test(secret)) {
    const quoted = JSON.stringify(secret).slice(1, -1);
    // Quoted once more, as JSON in a JSON text.
    forms.push(quoted, JSON.stringify(quoted).slice(1, -1));
  }
  const inUrl = encodeURIComponent(secret);
  if (inUrl !== secret) forms.push(inUrl);
  if (secret.includes('/')) forms.push(secret.replaceAll('/', '\\/'));
  forms.push([...secret].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''));
  for (const shift of [0, 1, 2]) {
    const encoded = base64Within(secret, shift);
    forms.push(encoded);
    if (/[+/]/.test(encoded)) forms.push(encoded.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}

/** The base64 characters that a secret alone determines, `shift` bytes after a group of three. */
function base64Within(secret: string, shift: number): string {
  const bytes = Buffer.from(`${'\0'.repeat(shift)}${secret}`);
  const first = Math.ceil((shift * 8) / 6);
  return bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
}

/** A pattern that matches a text alone. */
function asPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function hasEscape(text: string): boolean {
  // Most texts have neither character, and this search is ten times faster.
  return (text.includes('%') || text.includes('\\')) && escape.test(text);
}

const percent = 0x25;
const backslash = 0x5c;
const slash = 0x2f;

/** Decodes every `escape`. No replacer function: a long text can have a million escapes. */
function unescaped(text: string): string {
  const bytes = Buffer.from(text, 'utf16le');
  const chars = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length);
  let length = 0;
  for (let at = 0; at < chars.length;) {
    const char = chars[at]!;
    let end = at + 1;
    let value = -1;
    if (char === percent) {
      while (chars[end] === 0x32 && chars[end + 1] === 0x35) end += 2;
      // The last 25 may be the code itself.
      if (end > at + 1 && asciiAt(chars, end) < 0) end -= 2;
      value = asciiAt(chars, end);
      end = value < 0 ? at + 1 : end + 2;
    } else if (char === backslash) {
      while (chars[end] === backslash) end += 1;
      if (chars[end] === slash) {
        value = slash;
        end += 1;
      } else if ((chars[end]! | 0x20) === 0x75 && chars[end + 1] === 0x30 && chars[end + 2] === 0x30) {
        value = asciiAt(chars, end + 3);
        if (value >= 0) end += 5;
      }
    }
    if (value >= 0) chars[length++] = value;
    else while (at < end) chars[length++] = chars[at++]!;
    at = end;
  }
  return bytes.toString('utf16le', 0, 2 * length);
}

/** The printable ASCII character of two hexadecimal digits; -1: there are none. */
function asciiAt(chars: Uint16Array, at: number): number {
  const high = hexAt(chars, at);
  const low = hexAt(chars, at + 1);
  return high >= 2 && high <= 7 && low >= 0 ? high * 16 + low : -1;
}

function hexAt(chars: Uint16Array, at: number): number {
  const char = chars[at] ?? 0;
  if (char >= 0x30 && char <= 0x39) return char - 0x30;
  const letter = char | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
