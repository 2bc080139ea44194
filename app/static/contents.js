// The table of contents needs the look switch and nothing else.
import {wireLook} from "./frame.js";

wireLook();
