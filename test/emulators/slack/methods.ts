import type { Method } from './method.ts';
import { chatMethods } from './methods-chat.ts';
import { conversationMethods } from './methods-conversations.ts';
import { fileMethods } from './methods-files.ts';
import { interactionMethods } from './methods-interaction.ts';

/** Every Web API method that the emulator speaks. */
export const methods: Readonly<Record<string, Method>> = {
  ...chatMethods,
  ...conversationMethods,
  ...fileMethods,
  ...interactionMethods,
};
