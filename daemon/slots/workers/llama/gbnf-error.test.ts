import { expect, test } from 'vitest';
import { cpuTimer } from '../../../lib/testing/cpu-time.ts';
import { gbnfFault } from './gbnf-error.ts';

test.each([
  ['root ::= "a"{5,2}', '{5,2} has a maximum below its minimum'],
  ['root ::= ("a" { 5 , 3 })', '{ 5 , 3 } has a maximum'],
  ['root ::= ("a"{5 # at least\n,2})', 'has a maximum below its minimum'],
  ['root ::= "a"{1,3} [b]{09,8}', '{09,8} has a maximum'],
  ['root ::= "a"{1,100000}', 'the maximum is 9999'],
  ['root ::= "a" {\t1 , 10000}', 'the maximum is 9999'],
  ['root ::= "a" {10000,}', 'the maximum is 9999'],
  [`root ::= ${'('.repeat(201)}"a"${')'.repeat(201)}`, 'nested deeper than 200'],
  ['root ::= "a" <[257]> "b"', 'token ids are not supported'],
  ['root ::= [<] # x\r!<|im_end|>', 'token ids are not supported'],
  ['root ::= "a" [z-a]', 'the range z-a ends before it starts'],
  ['root ::= "\\x00" | "b"', 'the character U+0000'],
  ['root ::= "a" # \0\n{5,2}', 'it contains the character U+0000'],
  ['root ::= "\\UFFFFFFFF"', 'there is no character'],
])('refuses %j', (grammar, reason) => {
  expect(gbnfFault(grammar)).toContain(reason);
});

test.each([
  'root ::= "<\\"<" [\\]<] # <[1]>\n "a"',
  'root ::= "a"{2,5} "b"{3} "c"{4,} "d"{ 0 , 0 }',
  'root ::= "{5,2}{100000}" [{5,2}] # {5,2}',
  `root ::= ${'('.repeat(200)}"a"${')'.repeat(200)}`,
  'root ::= "a" # [z-a] "\\x00"',
])('accepts %j', (grammar) => {
  expect(gbnfFault(grammar)).toBeNull();
});

test.each(['[', '{', '{ ', '{1', '{1 ', '"', '\\', '"\\', '[\\'])(
  'checks 65,536 characters of %j quickly',
  (part) => {
    const long = part.repeat(65_536 / part.length);
    const cpuMs = cpuTimer();
    gbnfFault(long);
    gbnfFault(part + ' '.repeat(65_536 - part.length));
    expect(cpuMs()).toBeLessThan(500);
  },
);
