import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../../src/gateway/commands/parse.ts';
import { plainDecision } from '../../../../src/gateway/plain-words.ts';

describe('a slash command', () => {
  it.each([
    ['/help', { name: 'help', args: '' }],
    ['/Deny@my_bot not now', { name: 'deny', args: 'not now' }],
    ['/set_home', { name: 'set-home', args: '' }],
    ['/queue —force a', { name: 'queue', args: '--force a' }],
    ['/steer one\ntwo', { name: 'steer', args: 'one\ntwo' }],
    ['/usr/bin/env', null],
    ['hello /help', null],
    ['/', null],
  ])('%s', (text, expected) => {
    expect(parseCommand(text)).toEqual(expected);
  });
});

describe('a decision in plain words', () => {
  it.each([
    ['yes', 'once'],
    ['OK!', 'once'],
    ['👍', 'once'],
    ['yes always', 'always'],
    ['session', 'session'],
    ['no', 'deny'],
    ['нет', 'deny'],
    ['yes please do it', null],
    ['what does it do?', null],
    ['', null],
  ])('%s', (text, expected) => {
    expect(plainDecision(text)).toBe(expected);
  });
});
