/** Texts as models write them, and any others of the same pieces. */
import fc from 'fast-check';

const fence = '```';
const tags = ['think', 'thinking', 'reasoning', 'THINK', 'thought', 'seed:think'];
const harmony = (thought: string, final: string) =>
  `<|channel|>analysis<|message|>${thought}<|end|><|start|>assistant<|channel|>final<|message|>${final}<|return|>`;

/** All ways in which a model's thoughts come before its answer. */
const wrappings: readonly ((thought: string, final: string) => string)[] = [
  ...tags.map((tag) => (thought: string, final: string) => `<${tag}>\n${thought}\n</${tag}>\n\n${final}`),
  (thought, final) => `${thought}\n</think>\n\n${final}`,
  (thought, final) => `${thought}\n</thinking>${final}`,
  (thought, final) => `<think>${thought}</think><think></think>\n${final}`,
  (thought, final) => `[THINK]${thought}[/THINK]${final}`,
  (thought, final) => `◁think▷${thought}◁/think▷${final}`,
  (thought, final) => `<|channel>thought\n${thought}<channel|>${final}`,
  harmony,
  (thought, final) => `<|start|>assistant${harmony(thought, final)}`,
  (thought, final) => harmony(thought, final).replace('<|return|>', ''),
];
export const thought = fc.constantFrom(
  'It is fine.',
  'Maybe {"a": 0}.',
  `Maybe:\n${fence}\nDRAFT\n${fence}\nNo, shorter.`,
  `Maybe:\n${fence}json\n{"a": {"b": 1}}\n${fence}`,
  'I could say <think> here.',
  'An unclosed draft: {"a": {"b": 1}, ',
);
export const wrapping = fc.constantFrom(...wrappings);

/** Pieces that the readers of answers know. */
const marks = [
  ...['<think>', '</think>', '<thinking a="1">', '</thinking >', '<THINK>', '</Reasoning>', '<seed:think>'],
  ...['[THINK]', '[/THINK]', '◁think▷', '◁/think▷', '<|channel>thought\n', '<channel|>', '<|begin_of_thought|>'],
  ...['<|end_of_thought|>', '<|begin_of_solution|>', '<|end_of_solution|>', '<|START_RESPONSE|>'],
  ...['<|channel|>', 'analysis', 'final', 'commentary to=x', '<|message|>', '<|end|>', '<|start|>', 'assistant'],
  ...['<|return|>', 'assistantfinal', '<|call|>'],
  ...[fence, `${fence}json`, `${fence}\``, '~~~', `${fence}x y`, '`', '"', '“', "'", '\\', ':', '\uff1a', '**'],
  ...['{', '}', '[', ']', ',', '{"a": 1}', '{"a":', '[1, 2]', '[]', '{}', '[null]', '"b"', 'null', 'true', '{name}'],
  ...['{"a": {"b": [1]}}', '"\\u0041"', 'NaN', '[{', '{"t": "one\ntwo"}', '{"a": 1,}'],
  ...['Final version:', 'No, shorter.', 'Here it is:', 'x', 'word', 'a-', 'GPT'],
] as const;
const gaps = ['\n', ' ', '', '\n\n', '\r\n', '\t', '\u00a0', '\u2028', '\ufeff', '\u0085', '😀', '\ud800'] as const;
const numbers = [
  ...['1', '12', '007', '1,234', '1.234', '1.234,56', '12,34,567', '12,5', '1,5', '12 345', '12\u202f345,6', "1'000"],
  ...['1.2.3', '.5', '5.', '1e3', '1.2e-5', '1E400', '3 × 10^8', '3*10**-2', '3 \\times 10^{8}', '3/4', '1/0', '0/0'],
  ...['\\frac{3}{4}', '1/2/3', '45 %', '45\\%', '$1,500', '-€5', '−3', '+7', '10-3', '= -3', '(-4)', ')-4', '_5', 'x7'],
  ...['5 million', '1,2,3', '[1,5]', '9'.repeat(400), '٣', '0x10', '1,2345', '12,345,678', '1e', '1e5x', '-0', '¥ 5'],
] as const;

const mixed = (pieces: readonly string[], maxLength: number) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom(...gaps)), { maxLength })
    .map((parts) => parts.flat().join(''));

/** Texts with thoughts, fences and JSON in any order. */
export const markedText = fc.oneof(
  { weight: 4, arbitrary: mixed(marks, 14) },
  mixed([...marks, ...numbers], 8),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
);
export const numberText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...numbers) },
  { weight: 4, arbitrary: mixed([...numbers, 'x', ',', '.', '-', '/', '(', 'and'], 5) },
  fc.double().map(String),
  fc.string({ unit: fc.constantFrom(..."0123456789.,-−+/%eE $€ '’x_([{}\\^*\u00a0"), maxLength: 14 }),
);
