/** Replaces what a deployment does not keep of its texts. */
import { isIP } from 'node:net';
import type { LogSettings, RedactedKind } from '../../../kinds/deployment/contract/settings.js';
import { compilePattern } from '../../../util/linear-regex.js';
import { createTurns } from '../../../util/turns.js';

/** Replaces a kind. Bounded repetitions keep the time of each pattern linear in the text. */
const replaceKind: Record<RedactedKind, (text: string) => string> = {
  email: (text) =>
    text.replaceAll(
      /[\p{L}\p{M}\p{N}._%+'-]{1,64}@[\p{L}\p{M}\p{N}-]{1,63}(?:\.[\p{L}\p{M}\p{N}-]{1,63}){1,8}/gu,
      '[email]',
    ),
  phone: (text) =>
    text
      .replaceAll(/(?<![\w+])(?:\+|00)[1-9](?:[ ().\/\u00a0\u2011\u202f-]{0,2}\d){6,14}(?!\d)/g, '[phone]')
      .replaceAll(/(?<![\w-])(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])/g, '[phone]'),
  credit_card: (text) =>
    replaceNumbers(text, /(?<!\d)\d/g, /[ \u00a0\u202f-]?\d/y, {
      min: 13,
      max: 19,
      isValid: isLuhn,
      by: '[credit_card]',
    }),
  iban: (text) =>
    replaceNumbers(text, /(?<!\w)[A-Z]{2}\d{2}/gi, / ?[A-Z0-9]/iy, { min: 15, max: 34, isValid: isIban, by: '[iban]' }),
  ip_address: (text) =>
    text
      .replaceAll(/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d)/g, (address) =>
        isIP(address) ? '[ip_address]' : address,
      )
      .replaceAll(/(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?!\w)/gi, withoutIpv6),
  us_ssn: (text) => text.replaceAll(/(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/g, '[us_ssn]'),
  secret: (text) =>
    withoutPrivateKeys(text)
      .replaceAll(/(?<![\w-])eyJ[\w-]{8,4096}\.[\w-]{8,8192}\.[\w-]{8,2048}/g, '[secret]')
      .replaceAll(/(?<!\w)ya29\.(?=[\w.-]{20})[\w-]{1,1024}(?:\.[\w-]{1,1024}){0,3}/g, '[secret]')
      .replaceAll(/(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)/g, '[secret]')
      .replaceAll(
        /(?<!\w)(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|hf|npm|AIza|github_pat|gsk|xai|whsec)[-_]?[\w-]{20,255}/g,
        '[secret]',
      ),
};

/** Hexadecimal groups without their address, which a colon or a port may follow. */
function withoutIpv6(groups: string): string {
  const end = [groups.length, groups.lastIndexOf(':')].find((at) => isIP(groups.slice(0, at)) === 6);
  return end === undefined ? groups : `[ip_address]${groups.slice(end)}`;
}

/** A text without private keys; one without an end goes to the end of the text. */
function withoutPrivateKeys(text: string): string {
  let left = '';
  let from = 0;
  for (const { 0: head, index } of text.matchAll(/-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----/g)) {
    if (index < from) continue;
    const end = text.indexOf('-----END', index + head.length);
    const tail = end === -1 ? null : /-----END [A-Z ]{0,60}-----/y;
    if (tail) tail.lastIndex = end;
    left += `${text.slice(from, index)}[secret]`;
    from = tail?.test(text) ? tail.lastIndex : text.length;
  }
  return left + text.slice(from);
}

interface NumberForm {
  /** Its length without what separates its parts. */
  min: number;
  max: number;
  isValid: (compact: string) => boolean;
  by: string;
}

/** Replaces the longest valid number at each start; a part ends in one further character. */
function replaceNumbers(text: string, start: RegExp, part: RegExp, { min, max, isValid, by }: NumberForm): string {
  let replaced = '';
  let from = 0;
  for (const { 0: head, index } of text.matchAll(start)) {
    if (index < from) continue;
    let compact = head;
    let valid = -1;
    for (part.lastIndex = index + head.length; compact.length < max && part.test(text);) {
      compact += text[part.lastIndex - 1];
      const isWhole = compact.length >= min && !isWordAt(text, part.lastIndex);
      if (isWhole && isValid(compact)) valid = part.lastIndex;
    }
    if (valid < 0) continue;
    replaced += text.slice(from, index) + by;
    from = valid;
  }
  return replaced + text.slice(from);
}

function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at) | 0x20;
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 0x30;
    sum += at % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0 && /[1-9]/.test(digits);
}

/** ISO 13616: with its first four characters last and A to Z as 10 to 35, it is 1 mod 97. */
function isIban(compact: string): boolean {
  let rest = 0;
  for (let at = 0; at < compact.length; at += 1) {
    const code = compact.charCodeAt((at + 4) % compact.length);
    rest = code < 0x41 ? (rest * 10 + code - 0x30) % 97 : (rest * 100 + (code | 0x20) - 0x57) % 97;
  }
  return rest === 1;
}

/** Numbers with a checksum come before those that only look like one. */
const order: readonly RedactedKind[] = ['secret', 'email', 'iban', 'credit_card', 'ip_address', 'us_ssn', 'phone'];

/** Maximum characters of a text: all kinds take up to 0.4 µs for each. */
const maxTextChars = 128 * 1_024;
/** Characters times instructions of patterns: of a text, and of all texts of a request. */
const maxTextSteps = 500_000;
const maxSteps = 5_000_000;

/** The texts without what `redact` names; null: too long for its patterns. */
export async function redactTexts(texts: readonly string[], redact: LogSettings['redact']): Promise<string[] | null> {
  const kinds = order.filter((kind) => redact.includes(kind));
  const patterns = redact.flatMap((one) => {
    if (typeof one === 'string') return [];
    const compiled = compilePattern(one.pattern);
    if ('problem' in compiled) throw new RangeError(`The pattern ${one.name} ${compiled.problem}.`);
    return [{ by: `[${one.name}]`, compiled }];
  });
  const size = patterns.reduce((sum, { compiled }) => sum + compiled.size, 0);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const isLong = (text: string) => text.length > maxTextChars || size * text.length > maxTextSteps;
  if (size * length > maxSteps || texts.some(isLong)) return null;
  const turns = createTurns();
  const redacted: string[] = [];
  for (const text of texts) {
    await turns();
    // Own patterns first: they may name what is a part of a known kind.
    let left = patterns.reduce((own, { by, compiled }) => compiled.replace(own, by) ?? '', text);
    for (const kind of kinds) {
      await turns();
      left = replaceKind[kind](left);
    }
    redacted.push(left);
  }
  return redacted;
}
