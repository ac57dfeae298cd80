import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { baseCode, DamageError, describeError, isDamage, isTransient } from './sqlite-errors.ts';

const sqlite = (code: string) => new Database.SqliteError('x', code);

test('an extended code counts as its base code', () => {
  expect(baseCode(sqlite('SQLITE_IOERR_SHORT_READ'))).toBe('SQLITE_IOERR');
  expect(baseCode(sqlite('SQLITE_BUSY'))).toBe('SQLITE_BUSY');
  expect(baseCode(new Error('SQLITE_BUSY'))).toBeNull();
});

test.each([
  ['SQLITE_CORRUPT_VTAB', true, true],
  ['SQLITE_NOTADB', true, true],
  ['SQLITE_BUSY_SNAPSHOT', false, true],
  ['SQLITE_FULL', false, true],
  ['SQLITE_READONLY_DBMOVED', false, true],
  ['SQLITE_CONSTRAINT_UNIQUE', false, false],
  ['SQLITE_ERROR', false, false],
])('%s: damage %s, condition %s', (code, damage, condition) => {
  expect(isDamage(sqlite(code))).toBe(damage);
  expect(isTransient(sqlite(code))).toBe(condition);
});

test('the description never contains the message of an unknown error', () => {
  expect(describeError(sqlite('SQLITE_FULL'))).toBe('the disk is full');
  expect(describeError(new DamageError('it belongs to another program'))).toBe(
    'it belongs to another program',
  );
  expect(describeError(Object.assign(new Error('/secret/path'), { code: 'EACCES' }))).toBe(
    'the system answered EACCES',
  );
  expect(describeError(new Error('/secret/path'))).toBe('an internal error');
});
