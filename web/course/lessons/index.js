// The lessons in their order. A lesson has
//   id, words     its name and its text (words/lessons/ID.js)
//   models        true: the server trains models for it
//   formula       shown below the text
//   draw({ w, facts, ask, field, live })   makes what the reader plays with
import backward from './backward.js';
import encoders from './encoders.js';
import fixed from './fixed.js';
import heads from './heads.js';
import qkv from './qkv.js';
import root from './root.js';
import scores from './scores.js';
import softmax from './softmax.js';
import steps from './steps.js';

export const lessons = [fixed, softmax, scores, steps, qkv, root, heads, encoders, backward];
