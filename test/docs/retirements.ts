// Retirement dates that vendors announced, as their public pages had them on this day; null: none.
// OpenAI gives six months' notice: developers.openai.com/api/docs/deprecations.
// Google: ai.google.dev/gemini-api/docs/deprecations. Groq: console.groq.com/docs/deprecations.

export const asOf = '2026-11-27';

export const retirements: Record<string, string | null> = {
  'openai/gpt-6-luna': null,
  'openai/gpt-6-sol': null,
  'google/gemini-3.5-flash-lite': null,
  'openai/gpt-4': '2026-10-23',
  'openai/gpt-4-turbo': '2026-10-23',
  'openai/gpt-4.1-nano': '2026-10-23',
  'openai/gpt-3.5-turbo': '2026-10-23',
  'openai/o4-mini': '2026-10-23',
  'openai/gpt-5': '2026-12-11',
  'openai/gpt-5-mini': '2026-12-11',
  'openai/gpt-5-nano': '2026-12-11',
  'openai/o3': '2026-12-11',
  'openai/gpt-4o': '2027-01-14',
  'openai/gpt-4o-mini': '2027-01-14',
  'openai/gpt-4.1': '2027-01-14',
  'openai/gpt-4.1-mini': '2027-01-14',
  'openai/gpt-5.1': '2027-04-01',
  'google/gemini-2.5-flash': '2026-12-01',
  'google/gemini-2.5-pro': '2026-12-01',
  'google/gemini-3.1-flash-lite': '2027-05-07',
  'groq/llama-3.3-70b-versatile': '2026-08-16',
};
