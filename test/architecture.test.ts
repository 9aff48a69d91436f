/**
 * Enforces the import rules between parts over the TypeScript AST, and that only the config reads
 * the environment. A violation names the file, the line and the import.
 */
import { describe, expect, test } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { posix, resolve, sep } from 'node:path';
import ts from 'typescript';

interface Rule {
  /** Other parts that it may import; `types` only with `import type`. */
  values: readonly string[];
  types?: readonly string[];
  /** The packages that it may import; absent: any. `node:` covers all Node modules. */
  packages?: readonly string[];
}

const anyPart = ['*'];

/** The part of a file is the longest path prefix. Files of the same part may import each other. */
const rules: Record<string, Rule> = {
  'src/util': { values: [], packages: ['ajv', 'ipaddr.js', 'lru-cache', 're2js'] },
  'src/contracts': {
    values: ['src/core/prompts', 'src/core/jobs/kinds', 'src/scorers', 'src/util'],
    types: ['src/core'],
    packages: ['zod', 'fastest-levenshtein'],
  },
  'src/core': { values: ['src/util'], types: ['src/contracts', 'src/scorers'], packages: [] },
  'src/scorers': { values: ['src/contracts', 'src/core', 'src/util'], packages: ['zod'] },
  'src/tracing': { values: ['src/core', 'src/platform/db', 'store', 'src/util'], types: ['src/clients'] },
  'src/platform/db': { values: [] },
  store: { values: ['src/platform/db', 'src/contracts', 'src/core', 'src/util'], types: ['src/scorers'] },
  'src/local-model': { values: [], types: ['src/core'] },
  'src/clients': {
    values: ['src/contracts', 'src/core/answers', 'src/core/prompts', 'src/local-model', 'src/util'],
    types: ['src/core'],
  },
  'src/platform/temporal': {
    values: ['src/contracts', 'src/core', 'src/platform/db', 'store', 'src/util', 'workflows/messages'],
  },
  'src/platform/http': {
    values: [
      'src/contracts',
      'src/core',
      'src/scorers',
      'store',
      'src/clients',
      'src/platform/db',
      'src/platform/temporal',
      'src/tracing',
      'src/util',
      'workflows/messages',
    ],
  },
  workflows: {
    values: ['src/core', 'src/util', 'workflows/messages'],
    types: ['src/contracts', 'activities'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  'workflows/messages': {
    values: [],
    types: ['src/contracts', 'src/core'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
  },
  activities: {
    values: [
      'src/contracts',
      'src/core',
      'src/scorers',
      'src/platform/db',
      'store',
      'src/clients',
      'src/tracing',
      'src/util',
    ],
    types: ['src/service/metrics'],
  },
  'src/platform/embedded': { values: ['src/util/proxy'] },
  'src/container': { values: ['src/util/loopback'] },
  'src/client': { values: [], packages: ['eventsource-parser'] },
  'src/service/settings': { values: ['src/util'] },
  'src/service/environment': { values: ['src/service/settings'] },
  'src/service/config': {
    values: ['src/platform/embedded', 'src/service/environment', 'src/service/settings', 'src/util'],
  },
  'src/service/keys': {
    values: ['src/platform/db', 'src/platform/embedded', 'store'],
    types: ['src/service/config'],
  },
  'src/service/version': { values: [] },
  'src/service/metrics': { values: ['src/platform/embedded'] },
  'src/service/log': { values: [], types: ['src/service/config'] },
  'src/service/servers': {
    values: ['src/service/config', 'src/platform/db', 'src/platform/embedded', 'src/platform/temporal', 'store'],
  },
  'src/service/worker-process': {
    values: ['src/platform/embedded', 'src/service/metrics'],
    types: ['src/service/config', 'src/service/servers'],
  },
  'src/service': { values: anyPart },
  'src/cli': { values: anyPart },
  dashboard: {
    // What runs in the browser: no Node module comes with these.
    values: [
      'src/client',
      'src/cli/export/promptfoo',
      'src/cli/export/promptfoo-tests',
      'src/cli/task/sample',
      'src/cli/task/search',
      'examples',
      'src/core/comparisons/words',
      'src/core/diagnosis/proposals',
      'src/core/health/pace',
      'src/core/comparisons/first-reward',
      'src/core/rows/groups',
      'src/core/prompts/changes',
      'src/core/prompts/components',
      'src/core/prompts/row-template',
      'src/core/prompts/drafted',
      'src/core/prompts/columns',
      'src/core/prompts/template',
      'src/core/comparisons/words',
      'src/core/graphs',
      'src/core/jobs',
      'src/core/math/words',
      'src/core/reviews',
      'src/scorers/forms',
      'src/scorers/guess',
      'src/util/csv',
      'src/util/example-models',
      'src/util/json',
      'src/util/merge-patch',
      'src/util/sums',
    ],
    types: ['src/core', 'src/contracts', 'src/scorers'],
    packages: ['preact', '@preact/signals', 'uplot', 'eventsource-parser', 'vite'],
  },
  examples: { values: ['src/container'] },
  bench: { values: anyPart },
};

/** In a room such as `src/access`, a folder names the role of its files: the rule of a layer. */
const roles: Record<string, string> = {
  contract: 'src/contracts',
  client: 'src/clients',
  routes: 'src/platform/http',
  store: 'store',
};

function byRole(path: string): string {
  return path.replace(
    /^src\/(?:kinds\/)?[\w-]+\/(contract|client|routes|store)(?=\/)/,
    (_, role: string) => roles[role]!,
  );
}

/** The readers of process.env: the service's, the client's in a user's process, Vite's. */
const environmentReaders = ['src/service/config.ts', 'src/client/environment.ts', 'dashboard/vite.config.mjs'];

/** Written by `npm run generate`. */
const generated = ['src/client/api.ts'];

/** An import, export from, import() or require() of a module. */
interface Arrow {
  module: string;
  typeOnly: boolean;
  line: number;
}

function isWithin(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}/`) || path.startsWith(`${part}.`);
}

function partOf(path: string): string | undefined {
  const parts = Object.keys(rules).filter((part) => isWithin(path, part));
  return parts.sort((left, right) => right.length - left.length)[0];
}

function packageOf(module: string): string {
  if (module.startsWith('node:') || builtinModules.includes(module)) return 'node:';
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/');
}

const trees = new Map<string, ts.SourceFile>();

/** The syntax tree of a file, parsed once for all rules. */
function treeOf(file: string, text: string): ts.SourceFile {
  const known = trees.get(file);
  if (known?.text === text) return known;
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  trees.set(file, tree);
  return tree;
}

/** The table's violations in a file, one line each. */
function violations(file: string, text: string): string[] {
  const part = partOf(byRole(file));
  if (part === undefined) return [`${file} belongs to no part of the table of architecture.test.ts`];
  const source = treeOf(file, text);
  const rule = rules[part]!;
  const found = arrows(source).flatMap(({ module, typeOnly, line }) => {
    const at = `${file}:${line}`;
    if (!module.startsWith('.')) {
      const name = packageOf(module);
      return rule.packages?.includes(name) === false ? [`${at}: ${part} -> ${module}`] : [];
    }
    const path = byRole(posix.join(posix.dirname(file), module));
    const target = partOf(path);
    if (target === part || rule.values === anyPart) return [];
    if (target === undefined) return [`${at}: ${part} -> ${module}, which belongs to no part of the table`];
    if (rule.values.some((allowed) => isWithin(path, allowed))) return [];
    if (rule.types?.some((allowed) => isWithin(path, allowed))) {
      return typeOnly ? [] : [`${at}: ${part} -> ${target} is allowed as \`import type\` only`];
    }
    return [`${at}: ${part} -> ${target}`];
  });
  const environment = environmentReaders.includes(file) ? [] : environmentReads(source);
  return [
    ...found,
    ...environment.map((line) => `${file}:${line}: reads process.env; only src/service/config.ts does`),
  ];
}

function arrows(source: ts.SourceFile): Arrow[] {
  const found: Arrow[] = [];
  const visit = (node: ts.Node): void => {
    const module = moduleOf(node);
    if (module !== undefined) found.push({ module, typeOnly: isTypeOnly(node), line: lineOf(source, node) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function moduleOf(node: ts.Node): string | undefined {
  const named = (specifier: ts.Node | undefined) =>
    specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return named(node.moduleSpecifier);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return named(node.argument.literal);
  if (ts.isExternalModuleReference(node)) return named(node.expression);
  if (!ts.isCallExpression(node)) return undefined;
  const { expression } = node;
  const loads =
    expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(expression) && expression.text === 'require');
  return loads ? named(node.arguments[0]) : undefined;
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isImportDeclaration(node)) {
    const clause = node.importClause;
    if (clause === undefined) return false;
    const names = clause.namedBindings;
    const allTypes = names !== undefined && ts.isNamedImports(names) && areTypes(names.elements);
    return clause.phaseModifier === ts.SyntaxKind.TypeKeyword || (clause.name === undefined && allTypes);
  }
  if (!ts.isExportDeclaration(node)) return false;
  const clause = node.exportClause;
  return node.isTypeOnly || (clause !== undefined && ts.isNamedExports(clause) && areTypes(clause.elements));
}

function areTypes(elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]): boolean {
  return elements.length > 0 && elements.every((element) => element.isTypeOnly);
}

/**
 * Lines with `process.env`, `process['env']`, `{ env } = process` or an import of `env` from
 * node:process.
 */
function environmentReads(source: ts.SourceFile): number[] {
  const lines: number[] = [];
  const isProcess = (node: ts.Node | undefined) =>
    node !== undefined && /^(globalThis\.)?process$/.test(node.getText());
  const visit = (node: ts.Node): void => {
    const reads =
      (ts.isPropertyAccessExpression(node) && node.name.text === 'env' && isProcess(node.expression)) ||
      (ts.isElementAccessExpression(node) &&
        isProcess(node.expression) &&
        /^['"`]env/.test(node.argumentExpression.getText())) ||
      (ts.isBindingElement(node) &&
        (node.propertyName ?? node.name).getText() === 'env' &&
        isProcess((node.parent.parent as ts.VariableDeclaration).initializer)) ||
      (ts.isImportSpecifier(node) &&
        (node.propertyName ?? node.name).text === 'env' &&
        packageOf(moduleOf(node.parent.parent.parent) ?? '') === 'node:');
    if (reads) lines.push(lineOf(source, node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

describe('the rule', () => {
  test.each<[string, string, string[]]>([
    ['src/core/a.ts', `import { z } from 'zod';`, ['src/core/a.ts:1: src/core -> zod']],
    [
      'src/core/gepa/a.ts',
      `\nimport type { A } from '../../jobs/store/a.js';`,
      ['src/core/gepa/a.ts:2: src/core -> store'],
    ],
    ['src/core/a.ts', `import type { A } from '../contracts/a.js';`, []],
    ['src/core/a.ts', `import { type A, type B } from '../contracts/a.js';`, []],
    [
      'src/core/a.ts',
      `import { type A, b } from '../contracts/a.js';`,
      ['src/core/a.ts:1: src/core -> src/contracts is allowed as `import type` only'],
    ],
    [
      'workflows/a.ts',
      `import { setTimeout } from 'timers/promises';`,
      ['workflows/a.ts:1: workflows -> timers/promises'],
    ],
    ['workflows/a.ts', `export * from 'node:fs';`, ['workflows/a.ts:1: workflows -> node:fs']],
    [
      'workflows/a.ts',
      `import { run } from '../activities/index.js';`,
      ['workflows/a.ts:1: workflows -> activities is allowed as `import type` only'],
    ],
    ['workflows/a.ts', `type A = import('../src/jobs/store/a.js').A;`, ['workflows/a.ts:1: workflows -> store']],
    ['src/platform/http/a.ts', `import { taskQueue } from '../../../workflows/messages.js';`, []],
    [
      'src/platform/http/a.ts',
      `await import('../../../workflows/session.js');`,
      ['src/platform/http/a.ts:1: src/platform/http -> workflows'],
    ],
    [
      'src/container/a.ts',
      `const config = require('../service/config.js');`,
      ['src/container/a.ts:1: src/container -> src/service/config'],
    ],
    ['src/cli/a.ts', `import { serve } from '../service/main.js';`, []],
    ['src/access/routes/a.ts', `import { b } from '../store/b.js';`, []],
    [
      'src/kinds/graph/contract/a.ts',
      `import { b } from '../store/b.js';`,
      ['src/kinds/graph/contract/a.ts:1: src/contracts -> store'],
    ],
    ['src/kinds/graph/a.ts', '', ['src/kinds/graph/a.ts belongs to no part of the table of architecture.test.ts']],
    ['src/a.ts', '', ['src/a.ts belongs to no part of the table of architecture.test.ts']],
    [
      'src/platform/http/a.ts',
      `const key = process.env.KEY;`,
      ['src/platform/http/a.ts:1: reads process.env; only src/service/config.ts does'],
    ],
    [
      'src/platform/http/a.ts',
      `const { env } = process;`,
      ['src/platform/http/a.ts:1: reads process.env; only src/service/config.ts does'],
    ],
    [
      'src/platform/http/a.ts',
      `import { env } from 'node:process';`,
      ['src/platform/http/a.ts:1: reads process.env; only src/service/config.ts does'],
    ],
    ['src/service/config.ts', `const key = process.env.KEY;`, []],
  ])('%s: %s', (file, text, expected) => {
    expect(violations(file, text)).toEqual(expected);
  });
});

/** Layers whose own files, such as index.ts, combine the folders below them. */
const layers = ['src/contracts', 'src/platform/http', 'src/service', 'activities', 'workflows'];

/** The folder of a file; a file directly in a layer is its own folder. */
function folderOf(file: string): string {
  const folder = posix.dirname(file);
  return layers.includes(folder) ? file : folder;
}

type Sources = ReadonlyMap<string, string>;
/** By importing and imported file or folder: the lines of the imports. */
type ImportGraph = Map<string, Map<string, string[]>>;

/** The imports between the files, or between their folders; of values, or of types too. */
function importGraph(sources: Sources, nodeOf: (file: string) => string, which: 'values' | 'all'): ImportGraph {
  const all: ImportGraph = new Map();
  for (const [file, text] of sources) {
    const source = treeOf(file, text);
    for (const arrow of arrows(source)) {
      if ((arrow.typeOnly && which === 'values') || !arrow.module.startsWith('.')) continue;
      const from = nodeOf(file);
      const to = nodeOf(targetOf(file, arrow, sources));
      if (from === to) continue;
      const targets = all.get(from) ?? new Map<string, string[]>();
      targets.set(to, [...(targets.get(to) ?? []), `${file}:${arrow.line}`]);
      all.set(from, targets);
    }
  }
  return all;
}

function targetOf(file: string, { module }: Arrow, sources: Sources): string {
  const path = posix.join(posix.dirname(file), module).replace(/\.js$/, '');
  return sources.has(`${path}.tsx`) ? `${path}.tsx` : `${path}.ts`;
}

const folderCycles = (sources: Sources) => cyclesOf(importGraph(sources, folderOf, 'values'));
const fileCycles = (sources: Sources) => cyclesOf(importGraph(sources, (file) => file, 'all'));

/** Cycles of a graph, at least one if there is any, with the imports between their first two. */
function cyclesOf(graph: ImportGraph): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) {
      const cycle = path.slice(path.indexOf(node));
      const [first, second = node] = cycle;
      found.push(`${[...cycle, node].join(' -> ')} (${graph.get(first!)!.get(second)!.join(', ')})`);
      return;
    }
    if (done.has(node)) return;
    for (const next of graph.get(node)?.keys() ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return found;
}

const mostLines = 80;

/** Functions above the limit, as file, first line and number of lines. */
function longFunctions(file: string, text: string): string[] {
  const source = treeOf(file, text);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
    const [first, last] = [lineAt(node.getStart(source)), lineAt(node.end)];
    const lines = last - first + 1;
    if (ts.isFunctionLike(node) && lines > mostLines) found.push(`${file}:${first}: ${lines} lines`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test.each([
  [mostLines, []],
  [mostLines + 1, ['src/a.ts:2: 81 lines']],
])('of a method of %d lines, finds %j', (lines, found) => {
  const body = '    this.a();\n'.repeat(lines - 2);
  expect(longFunctions('src/a.ts', `class A {\n  a() {\n${body}  }\n}`)).toEqual(found);
});

test('finds a cycle between folders, also over a third folder', () => {
  const sources = new Map([
    ['src/core/a/x.ts', `import { y } from '../b/y.js';`],
    ['src/core/b/y.ts', `import { z } from '../c/z.js';`],
    ['src/core/c/z.ts', `import type { T } from '../b/y.js';\nimport { x } from '../a/other.js';`],
  ]);
  expect(folderCycles(sources)).toEqual(['src/core/a -> src/core/b -> src/core/c -> src/core/a (src/core/a/x.ts:1)']);
  sources.delete('src/core/c/z.ts');
  expect(folderCycles(sources)).toEqual([]);
});

test.each([
  ['a value', `import { y } from './y.js';`],
  ['a type', `import type { Y } from './y.js';`],
  ['the type of a module', `export type Y = typeof import('./y.js');`],
])('finds a cycle between files by %s', (_, text) => {
  const sources = new Map([
    ['src/core/a/x.ts', text],
    ['src/core/a/y.tsx', `import type { Z } from './z.js';`],
    ['src/core/a/z.ts', `export { x } from './x.js';`],
  ]);
  const [x, y, z] = sources.keys();
  expect(fileCycles(sources)).toEqual([`${x} -> ${y} -> ${z} -> ${x} (${x}:1)`]);
  sources.delete('src/core/a/z.ts');
  expect(fileCycles(sources)).toEqual([]);
});

describe('every file', () => {
  const root = resolve(__dirname, '..');
  const folders = ['src', 'workflows', 'activities', 'examples', 'dashboard', 'bench'];
  const files = folders.flatMap((folder) => listFiles(root, folder));

  test('is checked', () => {
    for (const part of [
      'src/core/',
      'src/platform/http/',
      'src/jobs/store/',
      'src/kinds/',
      'src/platform/',
      'workflows/',
    ]) {
      expect(files.filter((file) => file.startsWith(part))).not.toEqual([]);
    }
  });

  test('is in a folder of at most 25 files', () => {
    const sizes = new Map<string, number>();
    for (const file of files) sizes.set(posix.dirname(file), (sizes.get(posix.dirname(file)) ?? 0) + 1);
    expect([...sizes].filter(([, size]) => size > 25)).toEqual([]);
  });

  test('has at most 300 lines', () => {
    const lines = (file: string) => readFileSync(resolve(root, file), 'utf8').split('\n').length - 1;
    expect(files.filter((file) => !generated.includes(file) && lines(file) > 300)).toEqual([]);
  });

  describe('of the product', () => {
    const product = files.filter((file) => !/^(bench|examples)\//.test(file));
    const sources = new Map(product.map((file) => [file, readFileSync(resolve(root, file), 'utf8')]));

    test('has no function above 80 lines', () => {
      expect([...sources].flatMap(([file, text]) => longFunctions(file, text))).toEqual([]);
    });

    test('imports no folder that imports its own', () => {
      expect(folderCycles(sources)).toEqual([]);
    });

    test('imports no file, not even for a type, that imports it', () => {
      expect(fileCycles(sources)).toEqual([]);
    });
  });

  test('imports only the parts that the table allows', () => {
    expect(files.flatMap((file) => violations(file, readFileSync(resolve(root, file), 'utf8')))).toEqual([]);
  });
});

function listFiles(root: string, folder: string): string[] {
  if (!existsSync(resolve(root, folder))) return [];
  const names = readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' });
  const paths = names
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .map((name) => `${folder}/${name.split(sep).join('/')}`);
  return paths.filter((path) => !path.startsWith('bench/test/'));
}
